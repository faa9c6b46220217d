"""What is scored: metrics by output type, and the aggregations that make one number of their values."""

from __future__ import annotations

from hydra_eval.metrics import choice, grouped, likelihood, samples, text
from hydra_eval.metrics.base import Aggregation, BoundMetric, Metric
from hydra_eval.stats import aggregations, corpus

AGGREGATIONS: dict[str, Aggregation] = {
    aggregation.name: aggregation
    for aggregation in (
        Aggregation("mean", aggregations.mean, stderr="mean"),
        Aggregation("nanmean", aggregations.nanmean, stderr="bootstrap"),
        Aggregation("median", aggregations.median, stderr="bootstrap"),
        Aggregation("perplexity", aggregations.perplexity, stderr="bootstrap"),
        Aggregation("weighted_perplexity", aggregations.weighted_perplexity),
        Aggregation("bits_per_byte", aggregations.bits_per_byte),
        Aggregation("f1", aggregations.f1, stderr="bootstrap"),
        Aggregation("matthews_corrcoef", aggregations.matthews_corrcoef, stderr="bootstrap"),
        Aggregation("f1_macro", aggregations.f1_macro, stderr="bootstrap"),
        Aggregation("f1_micro", aggregations.f1_micro, stderr="bootstrap"),
        Aggregation("f1_weighted", aggregations.f1_weighted, stderr="bootstrap"),
        Aggregation("f1_max", aggregations.f1_max, stderr="bootstrap"),
        Aggregation("balanced_acc", aggregations.balanced_acc, stderr="bootstrap"),
        Aggregation("bleu", corpus.bleu, stderr="bootstrap"),
        Aggregation("chrf", corpus.chrf, stderr="bootstrap"),
        Aggregation("chrf++", corpus.chrf_plus_plus, stderr="bootstrap"),
        Aggregation("ter", corpus.ter, stderr="bootstrap"),
        Aggregation("acc_all", aggregations.acc_all, stderr="groups"),
        Aggregation("brier_score", aggregations.brier_score),
        Aggregation("gold_loglikelihood", aggregations.gold_loglikelihood),
        Aggregation("bypass", aggregations.bypass),
    )
}

METRICS: dict[str, dict[str, Metric]] = {
    "multiple_choice": {
        "acc": Metric(choice.acc, "mean"),
        "acc_norm": Metric(choice.acc_norm, "mean"),
        "acc_bytes": Metric(choice.acc_bytes, "mean"),
        "acc_mutual_info": Metric(choice.acc_mutual_info, "mean"),
        "acc_all": Metric(grouped.choice_and_group, "acc_all"),
        "exact_match": Metric(choice.exact_match, "mean"),
        "f1": Metric(choice.gold_and_pick, "f1"),
        "mcc": Metric(choice.gold_and_pick, "matthews_corrcoef"),
        "brier_score": Metric(choice.gold_and_probabilities, "brier_score", higher_is_better=False),
        "likelihood": Metric(choice.gold_and_logprobs, "gold_loglikelihood"),
    },
    "loglikelihood": {
        "acc": Metric(likelihood.acc, "mean"),
        "acc_all": Metric(grouped.likelihood_and_group, "acc_all"),
        "perplexity": Metric(likelihood.logprob, "perplexity", higher_is_better=False),
    },
    "loglikelihood_rolling": {
        "word_perplexity": Metric(likelihood.logprob_and_words, "weighted_perplexity", higher_is_better=False),
        "byte_perplexity": Metric(likelihood.logprob_and_bytes, "weighted_perplexity", higher_is_better=False),
        "bits_per_byte": Metric(likelihood.logprob_and_bytes, "bits_per_byte", higher_is_better=False),
    },
    "generate_until": {
        "exact_match": Metric(text.exact_match, "mean"),
        "acc": Metric(text.gold_and_prediction, "mean"),
        "f1": Metric(text.gold_and_prediction, "f1"),
        "mcc": Metric(text.gold_and_prediction, "matthews_corrcoef"),
        "bleu": Metric(text.gold_and_prediction, "bleu"),
        "chrf": Metric(text.gold_and_prediction, "chrf"),
        "chrf++": Metric(text.gold_and_prediction, "chrf++"),
        "ter": Metric(text.gold_and_prediction, "ter", higher_is_better=False),
        "avg@n": Metric(samples.average, "mean"),
        "maj@n": Metric(samples.majority, "mean"),
        "pass@k": Metric(samples.pass_at, "mean"),
        "g-pass@k": Metric(samples.g_pass_at, "mean"),
        "mg-pass@k": Metric(samples.mg_pass_at, "mean"),
        "bypass": Metric(text.bypass, "bypass"),
    },
}
"""Output type → name → metric."""

DEFAULT_METRICS: dict[str, tuple[str, ...]] = {
    "multiple_choice": ("acc", "acc_norm"),
    "loglikelihood": ("perplexity", "acc"),
    "loglikelihood_rolling": ("word_perplexity", "byte_perplexity", "bits_per_byte"),
    "generate_until": ("exact_match",),
}
"""What a task without a list of metrics is scored by, as in lm-eval."""

PAIR_SCORES = frozenset(
    {
        choice.gold_and_pick,
        choice.gold_and_probabilities,
        choice.gold_and_logprobs,
        likelihood.logprob_and_words,
        likelihood.logprob_and_bytes,
        text.gold_and_prediction,
        grouped.choice_and_group,
        grouped.likelihood_and_group,
    }
)
"""Scores whose value is a pair."""

SAMPLED = frozenset({samples.average, samples.majority, samples.pass_at, samples.g_pass_at, samples.mg_pass_at})
"""Scores over all replies to a document."""

PAIR_AGGREGATIONS = frozenset(
    {
        *("weighted_perplexity", "bits_per_byte", "matthews_corrcoef", "brier_score", "gold_loglikelihood"),
        *("f1", "f1_macro", "f1_micro", "f1_weighted", "f1_max", "balanced_acc"),
        *("bleu", "chrf", "chrf++", "ter", "acc_all"),
    }
)
"""Aggregations that want pairs; the others, `bypass` aside, want numbers."""

__all__ = [
    "AGGREGATIONS",
    "DEFAULT_METRICS",
    "METRICS",
    "PAIR_AGGREGATIONS",
    "PAIR_SCORES",
    "SAMPLED",
    "Aggregation",
    "BoundMetric",
    "Metric",
]
