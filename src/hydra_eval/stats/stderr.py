"""The standard error that goes with an aggregated number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from hydra_eval.metrics.base import Aggregation
from hydra_eval.stats.aggregations import groups_right, mean
from hydra_eval.stats.bootstrap import bootstrap_stderr, resampled

CORPUS_METRICS = ("bleu", "chrf", "chrf++", "ter")
CORPUS_RESAMPLES = 100
"""lm-eval's cap where one resample means scoring the whole corpus again."""


def stderr(aggregation: Aggregation, metric_name: str, values: Sequence[Any], *, bootstrap: int) -> float | None:
    """Standard error of `aggregation.combine(values)`; None where there is no rule for it, or fewer than two values.

    `bootstrap` is the number of resamples for aggregations without a closed form; 0 leaves their error out.
    """
    if len(values) < 2:
        return None
    if aggregation.stderr == "mean":
        return mean_stderr(values)
    if aggregation.stderr == "groups":
        groups = groups_right(values, by_question=True)
        return mean_stderr(groups) if len(groups) > 1 else None
    if aggregation.stderr == "bootstrap" and bootstrap > 0:
        resamples = min(bootstrap, CORPUS_RESAMPLES) if metric_name in CORPUS_METRICS else bootstrap
        statistic = resampled(aggregation.name, aggregation.combine, values)
        return bootstrap_stderr(statistic, len(values), resamples=resamples)
    return None


def mean_stderr(values: Sequence[float]) -> float:
    """Sample standard deviation (n-1) over √n, summed in the order given: 64 ranks must not change a digit."""
    centre = mean(values)
    variance = sum((value - centre) ** 2 for value in values) / (len(values) - 1)
    return math.sqrt(variance) / math.sqrt(len(values))
