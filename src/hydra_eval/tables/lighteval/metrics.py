"""`lighteval.metrics.metrics`: every metric that task files name."""

from __future__ import annotations

from copy import deepcopy
from enum import Enum, EnumMeta
from typing import Any

import numpy as np

from hydra_eval.errors import did_you_mean, known_names
from hydra_eval.tables.lighteval.choice_metrics import (
    MRR,
    AccGoldLikelihood,
    LoglikelihoodAcc,
    Recall,
    TruthfulqaMCMetrics,
)
from hydra_eval.tables.lighteval.corpus_metrics import (
    CorpusLevelF1Score,
    CorpusLevelPerplexityMetric,
    CorpusLevelTranslationMetric,
    MatthewsCorrCoef,
)
from hydra_eval.tables.lighteval.docs import SamplingMethod
from hydra_eval.tables.lighteval.drop import DropMetrics
from hydra_eval.tables.lighteval.extraction import (
    ExprExtractionConfig,
    IndicesExtractionConfig,
    LatexExtractionConfig,
    MultilingualExtractiveMatchMetric,
)
from hydra_eval.tables.lighteval.metric_types import (
    CorpusLevelMetric,
    CorpusLevelMetricGrouping,
    Metric,
    SampleLevelMetric,
    SampleLevelMetricGrouping,
)
from hydra_eval.tables.lighteval.normalizations import bigbench_normalizer
from hydra_eval.tables.lighteval.preparators import (
    GenerativePreparator,
    LoglikelihoodPreparator,
    PerplexityPreparator,
    TargetPerplexityPreparator,
)
from hydra_eval.tables.lighteval.refused import BLEURT, BertScore, Extractiveness, Faithfulness, JudgeLLMSimpleQA
from hydra_eval.tables.lighteval.sampled_metrics import AvgAtN, GPassAtK, MajAtN, PassAtK
from hydra_eval.tables.lighteval.text_metrics import BLEU, ROUGE, ExactMatches, F1_score, StringDistance

TEXT, CHOICES, WHOLE = SamplingMethod.GENERATIVE, SamplingMethod.LOGPROBS, SamplingMethod.PERPLEXITY
ROUGES = ["rouge1", "rouge2", "rougeL", "rougeLsum"]
COPIED = ["longest_common_prefix_length", "edit_distance", "edit_similarity"]
SUMMARY = ["summarization_coverage", "summarization_density", "summarization_compression"]
EXPR, LATEX, BOXED = ExprExtractionConfig(), LatexExtractionConfig(), LatexExtractionConfig(boxed_match_priority=0)


def _mean(name: str, score: Any, category: SamplingMethod = TEXT) -> SampleLevelMetric:
    return SampleLevelMetric(name, True, category, score, np.mean)


def _means(names: Any, score: Any, category: SamplingMethod = TEXT) -> SampleLevelMetricGrouping:
    return SampleLevelMetricGrouping(names, True, category, score, np.mean)


def _whole(name: str, keep: Any, combine: Any, category: SamplingMethod, *, higher: bool = True) -> CorpusLevelMetric:
    return CorpusLevelMetric(name, higher, category, keep, combine)


def _translation(name: str, *, higher: bool = True) -> CorpusLevelMetric:
    return _whole(name, GenerativePreparator(), CorpusLevelTranslationMetric(name), TEXT, higher=higher)


def _perplexity(name: str, keep: Any, kind: str, category: SamplingMethod = WHOLE) -> CorpusLevelMetric:
    return _whole(name, keep, CorpusLevelPerplexityMetric(kind), category, higher=False)


def _letters(*, loose: bool = False) -> MultilingualExtractiveMatchMetric:
    target = (IndicesExtractionConfig("NativeLetters", loose),)
    return MultilingualExtractiveMatchMetric(gold_extraction_target=target, pred_extraction_target=target)


def _boxed(gold: Any) -> MultilingualExtractiveMatchMetric:
    return MultilingualExtractiveMatchMetric(
        gold_extraction_target=(gold,), pred_extraction_target=(EXPR, BOXED), precision=5
    )


def _mathematical() -> MultilingualExtractiveMatchMetric:
    return MultilingualExtractiveMatchMetric(gold_extraction_target=(EXPR, LATEX), pred_extraction_target=(EXPR, LATEX))


class _Known(EnumMeta):
    def __getattr__(cls, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        names = list(cls._member_map_)
        near = did_you_mean(name, names, count=3)
        raise AttributeError(f"there is no metric '{name}'.{near} Known: {known_names(names, shown=len(names))}")


class Metrics(Enum, metaclass=_Known):
    """Metric by name. A member called with `sample_params` gives a copy with those options."""

    acc_golds_likelihood = _mean("acc", AccGoldLikelihood(), CHOICES)
    avg_at_n = _mean("avg@n", AvgAtN(strip_strings=True))
    avg_at_n_math = _mean("avg@n", AvgAtN(sample_scoring_function=_mathematical()))
    bert_score = _means(["BERTScore-P", "BERTScore-R", "BERTScore-F"], BertScore())
    bits_per_byte = _perplexity("bits_per_byte", PerplexityPreparator("bytes"), "bits_per_byte")
    bleu = _translation("bleu")
    bleu_1 = _mean("bleu_1", BLEU(1))
    bleu_4 = _mean("bleu_4", BLEU(4))
    bleurt = _mean("bleurt", BLEURT())
    byte_perplexity = _perplexity("byte_perplexity", PerplexityPreparator("bytes"), "weighted_perplexity")
    chrf = _translation("chrf")
    chrf_plus = _translation("chrf++")
    copyright = SampleLevelMetricGrouping(
        COPIED, {name: name != "edit_distance" for name in COPIED}, TEXT, StringDistance(COPIED), np.mean
    )
    drop = _means(["em", "f1"], DropMetrics())
    exact_match = _mean("em", ExactMatches(strip_strings=True))
    expr_gold_metric = _mean("extractive_match", _boxed(EXPR))
    extractiveness = _means(SUMMARY, Extractiveness())
    extractiveness_de = _means(SUMMARY, Extractiveness(language="de"))
    extractiveness_fr = _means(SUMMARY, Extractiveness(language="fr"))
    extractiveness_it = _means(SUMMARY, Extractiveness(language="it"))
    f1_score = _mean("f1", F1_score())
    f1_score_macro = _whole("f1", GenerativePreparator(), CorpusLevelF1Score("macro"), TEXT)
    f1_score_micro = _whole("f1", GenerativePreparator(), CorpusLevelF1Score("micro"), TEXT)
    faithfulness = _mean("summac", Faithfulness())
    g_pass_at_k = _means("g-pass@k", GPassAtK(strip_strings=True))
    g_pass_at_k_latex = _means(
        "latex-g-pass@k", GPassAtK(name_prefix="latex", sample_scoring_function=_boxed(LATEX), strip_strings=True)
    )
    g_pass_at_k_math = _means(
        "math-g-pass@k", GPassAtK(name_prefix="math", sample_scoring_function=_boxed(EXPR), strip_strings=True)
    )
    gpqa_instruct_metric = _mean("extractive_match", _letters(loose=True))
    gpqa_instruct_pass_at_k = _mean("gpqa_pass@k", PassAtK(sample_scoring_function=_letters(loose=True)))
    loglikelihood_acc = _mean("acc", LoglikelihoodAcc(), CHOICES)
    loglikelihood_f1 = _whole("loglikelihood_f1", LoglikelihoodPreparator(), CorpusLevelF1Score(None), CHOICES)
    maj_at_n = _mean("maj@n", MajAtN())
    mcc = _whole("mcc", LoglikelihoodPreparator(), MatthewsCorrCoef(), CHOICES)
    mrr = _mean("mrr", MRR(), CHOICES)
    multi_f1_numeric = _whole("mf1", LoglikelihoodPreparator(True), CorpusLevelF1Score("micro", 3), CHOICES)
    pass_at_k = _mean("pass@k", PassAtK(strip_strings=True))
    pass_at_k_letters = _mean("pass@k", PassAtK(sample_scoring_function=_letters()))
    pass_at_k_math = _mean("pass@k", PassAtK(sample_scoring_function=_mathematical(), strip_strings=True))
    prediction_perplexity = _perplexity("ppl", PerplexityPreparator("words"), "perplexity")
    recall_at_k = _mean("recall", Recall(1), CHOICES)
    rouge1 = _mean("rouge1", ROUGE("rouge1"))
    rouge2 = _mean("rouge2", ROUGE("rouge2"))
    rougeL = _mean("rougeL", ROUGE("rougeL"))
    rougeLsum = _mean("rougeLsum", ROUGE("rougeLsum"))
    rouge_t5 = CorpusLevelMetricGrouping(
        ROUGES,
        True,
        TEXT,
        ROUGE(ROUGES, bootstrap=True, normalize_gold=bigbench_normalizer, normalize_pred=bigbench_normalizer),
        np.mean,
    )
    simpleqa_judge = _means(["simpleqa_judge"], JudgeLLMSimpleQA())
    target_perplexity = _perplexity("ppl", TargetPerplexityPreparator("words"), "perplexity", CHOICES)
    ter = _translation("ter", higher=False)
    truthfulqa_mc_metrics = _means(["truthfulqa_mc1", "truthfulqa_mc2"], TruthfulqaMCMetrics(), CHOICES)
    word_perplexity = _perplexity("word_perplexity", PerplexityPreparator("words"), "weighted_perplexity")

    def __str__(self) -> str:
        return self.name.replace("_at_", "@")

    def __call__(self, sample_params: dict[str, Any] | None = None) -> Metric:
        metric: Metric = deepcopy(self.value)(sample_params=sample_params)
        return metric


def math_scorer() -> None:
    """For lighteval's other engine, which nothing here runs."""


def multichoice_scorer() -> None:
    """For lighteval's other engine, which nothing here runs."""
