"""How a metric of lighteval's becomes one number: by an aggregation of ours where one is equal, which has an error."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from hydra_eval.metrics import AGGREGATIONS
from hydra_eval.metrics.base import Aggregation
from hydra_eval.tables.lighteval.corpus_metrics import CorpusLevelTranslationMetric, classes
from hydra_eval.tables.lighteval.preparators import (
    GenerativeCorpusMetricInput,
    LogprobCorpusMetricInput,
    PerplexityCorpusMetricInput,
)

AVERAGED = ("DropMetrics", "StringDistance")
"""Scores that lighteval reduces to the best document's; here they are averaged."""
OF_CLASSES = ("MatthewsCorrCoef", "CorpusLevelF1Score")
AVERAGES = {"macro": "f1_macro", "micro": "f1_micro", "weighted": "f1_weighted", None: "f1_max"}
"""`average` of CorpusLevelF1Score → aggregation of ours."""


def aggregation_of(metric: Any, name: str) -> Aggregation:
    """What combines the values of one of a metric's names. Classes are told by name: they are lighteval's or ours."""
    given = metric.corpus_level_fn
    given = given[name] if isinstance(given, Mapping) else given
    if type(metric.sample_level_fn).__name__ in AVERAGED or given is np.mean:
        return AGGREGATIONS["mean"]
    if (ours := _ours(given)) is not None:
        return AGGREGATIONS[ours]
    if type(given).__name__ == "CorpusLevelTranslationMetric":
        # lighteval hands sacrebleu the references row by row, so that chrf and ter see the first document alone.
        given = CorpusLevelTranslationMetric(given.metric_type, given.lang)
    combine = getattr(given, "compute_corpus", given)
    return Aggregation(getattr(combine, "__name__", type(given).__name__), _plainly(combine))


def _ours(given: Any) -> str | None:
    """Key of `AGGREGATIONS` for a corpus metric of lighteval's that is the same."""
    kind = type(given).__name__
    if kind == "MatthewsCorrCoef":
        return "matthews_corrcoef"
    if kind == "CorpusLevelF1Score" and given.num_classes == 2:
        return AVERAGES[given.average]
    if kind == "CorpusLevelTranslationMetric" and not getattr(given, "lang", ""):
        return str(given.metric_type)
    if kind == "CorpusLevelPerplexityMetric" and given.metric_type != "perplexity":
        return str(given.metric_type)
    return None


def kept_value(metric: Any, value: Any) -> Any:
    """A document's value as rows hold it: plain numbers, and tuples for what corpus metrics keep."""
    if hasattr(value, "golds") and hasattr(value, "preds"):
        if type(metric.corpus_level_fn).__name__ in OF_CLASSES:
            (gold,), (pick,) = classes([value])
            return LogprobCorpusMetricInput(plain(gold), plain(pick))
        if isinstance(value.preds, list):
            is_translation = type(metric.corpus_level_fn).__name__ == "CorpusLevelTranslationMetric"
            return GenerativeCorpusMetricInput(value.golds, value.preds[:1] if is_translation else value.preds)
        return LogprobCorpusMetricInput(value.golds, plain(value.preds))
    if hasattr(value, "logprobs") and hasattr(value, "weights"):
        return PerplexityCorpusMetricInput(plain(value.logprobs), value.weights)
    return plain(value)


def _plainly(combine: Callable[[Any], Any]) -> Callable[[Sequence[Any]], Any]:
    return lambda values: plain(combine(list(values)))


def plain(value: Any) -> Any:
    """Numpy's numbers and truth values as Python's."""
    item = getattr(value, "item", None)
    return item() if callable(item) and getattr(value, "ndim", None) == 0 else value
