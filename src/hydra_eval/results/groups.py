"""Groups of tasks: their scores from those of the tasks below them.

Semantics: lm-eval 0.4.13, `lm_eval.api.group`; the standard error of a weighted mean follows from its weights.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from hydra_eval.results.aggregate import MetricResult, TaskResult
from hydra_eval.results.group_plans import GroupMean, GroupPlan

log = logging.getLogger(__name__)

EVERY = "*"
"""Stands in `aggregate_metric_list` for every metric that a member has."""
SHOWN_NAMES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMetric(MetricResult):
    """One number of a group's row; `n` is the documents of all tasks that have the metric."""

    weighted: bool
    missing: tuple[str, ...]
    """Tasks of the group without this metric."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupResult:
    """Everything that is reported about one group."""

    plan: GroupPlan
    metrics: tuple[GroupMetric, ...]
    documents: int
    """Of all its tasks."""

    @property
    def name(self) -> str:
        return self.plan.name


def aggregate_groups(plans: Sequence[GroupPlan], results: Sequence[TaskResult]) -> list[GroupResult]:
    """One result per plan, always from the tasks below it, never from other groups."""
    by_name = {result.task.name: result for result in results}
    return [_aggregate(plan, [by_name[name] for name in plan.tasks]) for plan in plans]


def _aggregate(plan: GroupPlan, results: Sequence[TaskResult]) -> GroupResult:
    metrics = []
    for mean, key in _wanted(plan.name, plan.means, results):
        metric = _combine(mean, key, results)
        if metric is None:
            log.warning("%s: no task of the group has the metric '%s,%s'.", plan.name, *key)
            continue
        if metric.missing:
            log.warning("%s: '%s,%s' is missing in %s.", plan.name, *key, _listed(metric.missing))
        metrics.append(metric)
    documents = sum(result.documents for result in results)
    return GroupResult(plan=plan, metrics=tuple(metrics), documents=documents)


def _wanted(
    name: str, means: Iterable[GroupMean], results: Sequence[TaskResult]
) -> Iterator[tuple[GroupMean, tuple[str, str]]]:
    """Each mean with the (metric, filter) pairs that it stands for."""
    present = list(dict.fromkeys((metric.metric, metric.filter) for result in results for metric in result.metrics))
    for mean in means:
        if mean.filters is not None:
            yield from ((mean, (mean.metric, name)) for name in mean.filters)
        elif mean.metric == EVERY:
            yield from ((mean, key) for key in present)
        elif keys := sorted(key for key in present if key[0] == mean.metric):
            yield from ((mean, key) for key in keys)
        else:
            log.warning("%s: no task of the group has the metric '%s'.", name, mean.metric)


def _combine(mean: GroupMean, key: tuple[str, str], results: Sequence[TaskResult]) -> GroupMetric | None:
    found = [
        (result, metric)
        for result in results
        for metric in result.metrics
        if (metric.metric, metric.filter) == key and isinstance(metric.value, int | float)
    ]
    if not found:
        return None
    sizes = [result.documents for result, _ in found]
    weights = sizes if mean.weighted else [1] * len(sizes)
    have = {result.task.name for result, _ in found}
    error = mean_stderr([metric.stderr for _, metric in found], weights)
    return GroupMetric(
        metric=key[0],
        filter=key[1],
        value=weighted_mean([metric.value for _, metric in found], weights),
        stderr=error,
        stderr_by="none" if error is None else "propagation",
        n=sum(sizes),
        higher_is_better=agreed(metric.higher_is_better for _, metric in found),
        weighted=mean.weighted,
        missing=tuple(result.task.name for result in results if result.task.name not in have),
    )


def weighted_mean(values: Sequence[float], weights: Sequence[float]) -> float:
    return sum(value * weight for value, weight in zip(values, weights, strict=True)) / sum(weights)


def mean_stderr(errors: Sequence[float | None], weights: Sequence[float]) -> float | None:
    """Standard error of the weighted mean of independent scores: √Σ(wᵢ·seᵢ)² / Σwᵢ; None where one has none."""
    if None in errors:
        return None
    known = [error for error in errors if error is not None]
    return math.sqrt(sum((weight * error) ** 2 for weight, error in zip(weights, known, strict=True))) / sum(weights)


def agreed(directions: Iterable[bool | None]) -> bool | None:
    """The direction that all share, else None."""
    distinct = set(directions)
    return distinct.pop() if len(distinct) == 1 else None


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN_NAMES} more" if len(names) > SHOWN_NAMES else ""
    return ", ".join(names[:SHOWN_NAMES]) + more
