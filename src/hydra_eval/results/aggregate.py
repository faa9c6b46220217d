"""Rows of all processes become one result per task: merged by identity, checked complete, aggregated."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from numbers import Real
from typing import Any

from hydra_eval.errors import UserError, noted
from hydra_eval.metrics import AGGREGATIONS, PAIR_AGGREGATIONS
from hydra_eval.metrics.base import Aggregation, BoundMetric
from hydra_eval.records import SampleRow
from hydra_eval.stats.stderr import stderr
from hydra_eval.tasks.task import Task

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricResult:
    """One number of the results table."""

    metric: str
    filter: str
    value: Any
    stderr: float | None
    """None where no error is defined for this aggregation, or with one document."""
    n: int
    higher_is_better: bool | None
    stderr_by: str = "none"
    """How the error was found: `mean` (closed form), `bootstrap`, another rule's name, or `none`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskResult:
    """Everything that is reported about one task."""

    task: Task
    metrics: tuple[MetricResult, ...]
    rows: tuple[SampleRow, ...]

    @property
    def name(self) -> str:
        return self.task.name

    @property
    def documents(self) -> int:
        """Documents that at least one metric scored."""
        return max((result.n for result in self.metrics), default=0)


def merge_rows(per_rank: Iterable[Sequence[SampleRow]], tasks: Sequence[Task]) -> list[SampleRow]:
    """All rows in the order task, filter, document, whatever rank they come from.

    Raises RuntimeError where a row is missing or there twice.
    """
    order = {
        (task.name, pipeline.name): (number, place)
        for number, task in enumerate(tasks)
        for place, pipeline in enumerate(task.filters)
    }
    rows = sorted(chain.from_iterable(per_rank), key=lambda row: (*order[row.task, row.filter], row.doc_id))
    expected = sum(len(task.docs) * len(task.filters) for task in tasks)
    if len(rows) != expected or len({row.key for row in rows}) != expected:
        raise RuntimeError(f"{len(rows)} rows were gathered, {expected} expected, or some of them twice")
    return rows


def aggregate(task: Task, rows: Sequence[SampleRow], *, bootstrap: int) -> TaskResult:
    """One value and standard error per metric and filter pipeline. `rows` are this task's, in file order."""
    values: dict[tuple[str, str], list[Any]] = {}
    metric_of: dict[str, str] = {}
    for row in rows:
        metric_of |= row.metric_of
        for metric, value in row.scores.items():
            values.setdefault((metric, row.filter), []).append(value)
    _tell_undeclared(task, {metric_of.get(metric, metric) for metric, _ in values})
    results = []
    for (metric, pipeline), scored in values.items():
        bound = _bound(task, metric_of.get(metric, metric))
        with _named(task, metric, bound, rows):
            results.append(_result(bound, metric, pipeline, scored, bootstrap))
    return TaskResult(task=task, metrics=tuple(results), rows=tuple(rows))


def _tell_undeclared(task: Task, metrics: set[str]) -> None:
    undeclared = sorted(metric for metric in metrics if _bound(task, metric) is None)
    if undeclared:
        text = "%s: metric_list does not name what process_results gives as %s; the mean is taken."
        log.warning(text, task.source, ", ".join(undeclared))


@contextmanager
def _named(task: Task, metric: str, bound: BoundMetric | None, rows: Sequence[SampleRow]) -> Iterator[None]:
    """Names task and metric in what an aggregation raises; a value that is no number is the user's to mend."""
    name = bound.aggregation.name if bound else "mean"
    try:
        with noted(f"in task '{task.name}', metric '{metric}', aggregation '{name}'"):
            yield
    except (TypeError, ValueError) as error:
        is_fit = _is_no_word if name in PAIR_AGGREGATIONS else _is_number
        given = ((row.doc_id, row.scores[metric]) for row in rows if metric in row.scores)
        found = next(((doc, value) for doc, value in given if not is_fit(value)), None)
        if found is None or name not in AGGREGATIONS:
            raise
        raise UserError(
            f"{task.source}: metric '{metric}': aggregation '{name}' cannot combine what document {found[0]} has, "
            f"{found[1]!r}. Give a number for every document, or name an own aggregation (!function)."
        ) from error


def _is_no_word(value: Any) -> bool:
    return value is not None and not isinstance(value, str | Mapping)


def _is_number(value: Any) -> bool:
    """Of Python, or a single one of numpy or torch."""
    return isinstance(value, Real) or getattr(value, "ndim", None) == 0


def _result(bound: BoundMetric | None, metric: str, pipeline: str, values: list[Any], bootstrap: int) -> MetricResult:
    """One number; a name that no metric of the task declares is a mean, as in lm-eval."""
    aggregation = bound.aggregation if bound else AGGREGATIONS["mean"]
    error = _stderr(aggregation, metric, values, bootstrap)
    return MetricResult(
        metric=metric,
        filter=pipeline,
        value=_of_python(aggregation.combine(values)),
        stderr=error,
        n=len(values),
        higher_is_better=bound.higher_is_better if bound else None,
        stderr_by="none" if error is None else aggregation.stderr,
    )


def _of_python(value: Any) -> Any:
    """Files and trackers know Python's numbers."""
    if isinstance(value, Decimal):
        return float(value)
    return value.item() if getattr(value, "ndim", None) == 0 else value


def _bound(task: Task, metric: str) -> BoundMetric | None:
    return next((bound for bound in task.metrics if bound.name == metric), None)


def _stderr(aggregation: Aggregation, metric: str, values: Sequence[Any], bootstrap: int) -> float | None:
    return stderr(aggregation, metric, values, bootstrap=bootstrap) if len(values) > 1 else None
