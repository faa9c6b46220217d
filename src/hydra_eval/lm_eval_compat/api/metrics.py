"""Aggregations and helpers that task code takes from `lm_eval.api.metrics`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from hydra_eval.stats.aggregations import bits_per_byte as bits_per_byte
from hydra_eval.stats.aggregations import brier_score as brier_score
from hydra_eval.stats.aggregations import f1 as f1_score
from hydra_eval.stats.aggregations import matthews_corrcoef as matthews_corrcoef
from hydra_eval.stats.aggregations import mean as mean
from hydra_eval.stats.aggregations import median as median
from hydra_eval.stats.aggregations import nanmean as nanmean
from hydra_eval.stats.aggregations import perplexity as perplexity
from hydra_eval.stats.aggregations import weighted_perplexity as weighted_perplexity

__all__ = [
    "bits_per_byte",
    "brier_score",
    "f1_score",
    "matthews_corrcoef",
    "mean",
    "mean_stderr",
    "median",
    "metric_max_over_ground_truths",
    "nanmean",
    "perplexity",
    "pop_stddev",
    "sample_stddev",
    "weighted_mean",
    "weighted_perplexity",
]


def metric_max_over_ground_truths(
    metric_fn: Callable[[Any, Any], Any], prediction: Any, ground_truths: Iterable[Any]
) -> Any:
    """The best score of a prediction against any of the references."""
    return max(metric_fn(prediction, truth) for truth in ground_truths)


def weighted_mean(items: Iterable[tuple[float, float]]) -> float:
    """Items are (sum, weight)."""
    sums, weights = zip(*items, strict=True)
    return float(sum(sums) / sum(weights))


def pop_stddev(arr: Sequence[float]) -> float:
    centre = mean(arr)
    return math.sqrt(sum((value - centre) ** 2 for value in arr) / len(arr))


def sample_stddev(arr: Sequence[float]) -> float:
    centre = mean(arr)
    return math.sqrt(sum((value - centre) ** 2 for value in arr) / (len(arr) - 1))


def mean_stderr(arr: Sequence[float]) -> float:
    return sample_stddev(arr) / math.sqrt(len(arr))
