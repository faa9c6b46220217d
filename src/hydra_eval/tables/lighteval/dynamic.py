"""`lighteval.metrics.dynamic_metrics`: metrics named after their options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hydra_eval.tables.lighteval.choice_metrics import LoglikelihoodAcc, NormalizedMultiChoiceProbability, Probability
from hydra_eval.tables.lighteval.docs import SamplingMethod
from hydra_eval.tables.lighteval.language import Language
from hydra_eval.tables.lighteval.metric_types import SampleLevelMetric
from hydra_eval.tables.lighteval.normalizations import get_multilingual_normalizer
from hydra_eval.tables.lighteval.text_metrics import ExactMatches, F1_score

Reduce = Callable[[Any], Any]


class LogLikelihoodAccMetric(SampleLevelMetric):
    """acc, acc_norm, acc_norm_token or acc_norm_pmi."""

    def __init__(self, normalization: Any = None) -> None:
        _averaged(self, f"acc{_suffix(normalization)}", LoglikelihoodAcc(normalization), SamplingMethod.LOGPROBS)


class NormalizedMultiChoiceProbMetric(SampleLevelMetric):
    """The right choice's share of the probability of all."""

    def __init__(self, normalization: Any = None, aggregation_function: Reduce = np.max) -> None:
        score = NormalizedMultiChoiceProbability(normalization, aggregation_function)
        _averaged(self, f"normalized_mc_prob{_suffix(normalization)}", score, SamplingMethod.LOGPROBS)


class ProbabilityMetric(SampleLevelMetric):
    """The right choice's probability."""

    def __init__(self, normalization: Any = None, aggregation_function: Reduce = np.max) -> None:
        score = Probability(normalization, aggregation_function)
        _averaged(self, f"prob{_suffix(normalization)}", score, SamplingMethod.LOGPROBS)


class MultilingualQuasiF1ScoreMetric(SampleLevelMetric):
    """F1 over the words of one language."""

    def __init__(self, language: Language, aggregation_function: Reduce = max) -> None:
        plain = get_multilingual_normalizer(language)
        score = F1_score(aggregation_function, normalize_gold=plain, normalize_pred=plain)
        _averaged(self, f"f1_{language.value}", score, SamplingMethod.GENERATIVE)


class MultilingualQuasiExactMatchMetric(SampleLevelMetric):
    """Equality of the words of one language."""

    def __init__(self, language: Language, match_type: str = "full", aggregation_function: Reduce = max) -> None:
        plain = get_multilingual_normalizer(language)
        score = ExactMatches(
            aggregation_function, normalize_gold=plain, normalize_pred=plain, type_exact_match=match_type
        )
        _averaged(self, f"exact_match_{language.value}_{match_type}", score, SamplingMethod.GENERATIVE)


def _averaged(metric: SampleLevelMetric, name: str, score: Any, category: SamplingMethod) -> None:
    SampleLevelMetric.__init__(metric, name, True, category, score, np.mean)


def _suffix(normalization: Any) -> str:
    return f"_{normalization.name}" if normalization else ""
