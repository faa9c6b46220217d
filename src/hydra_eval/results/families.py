"""Rows that differ in the examples' seed alone, or in the order of the choices alone, as one figure with its spread.

Between-seed spread and standard error are two things: the first says how much the choice of examples matters, the
second how much the choice of documents does.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from statistics import fmean, stdev
from typing import Any, TypeAlias

from hydra_eval.results.aggregate import MetricResult, TaskResult
from hydra_eval.results.groups import GroupMetric, GroupResult, mean_stderr, weighted_mean
from hydra_eval.results.positions import Positions, added, positions
from hydra_eval.stats.stderr import mean_stderr as stderr_of_mean
from hydra_eval.tasks.asks import ORDER, SEED, without

Row: TypeAlias = TaskResult | GroupResult
Key: TypeAlias = tuple[str, str]
"""(metric, filter)."""
ByName: TypeAlias = Mapping[str, TaskResult]


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedMetric:
    """One metric over the seeds of a family."""

    metric: str
    filter: str
    mean: float
    spread: float
    """Sample standard deviation (n-1) between the seeds."""
    min: float
    max: float
    stderr: float | None
    """Standard error over documents of each document's mean over the seeds; None where the metric is no mean."""
    n: int
    higher_is_better: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedFamily:
    """Rows that differ in the seed of their examples alone."""

    name: str
    rows: tuple[Row, ...]
    shots: int | None
    seeds: tuple[int, ...]
    metrics: tuple[SeedMetric, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderMetric:
    """One metric over the orders of the choices."""

    metric: str
    filter: str
    mean: float
    worst: float | None
    """None where neither direction is better."""
    spread: float
    """Sample standard deviation (n-1) between the orders."""
    consistent: float | None
    """Share of documents that are right in every order; None where documents are not simply right or wrong."""
    n: int
    higher_is_better: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderFamily:
    """Rows that differ in the order of the choices alone."""

    name: str
    rows: tuple[Row, ...]
    shots: int | None
    orders: int
    metrics: tuple[OrderMetric, ...]
    positions: Mapping[str, Positions]
    """Filter → where the picked and the right choices stand."""


def over_seeds(rows: Sequence[Row], results: Sequence[TaskResult]) -> tuple[SeedFamily, ...]:
    """One family per set of `rows` with a metric, in their order; `results` are those of all tasks."""
    by_name = {result.name: result for result in results}
    found = (_seed_family(name, family, by_name) for name, family in _families(rows, SEED))
    return tuple(family for family in found if family.metrics)


def over_orders(rows: Sequence[Row], results: Sequence[TaskResult], *, seed: int) -> tuple[OrderFamily, ...]:
    """The same for orders of the choices, which the run's `seed` turns."""
    by_name = {result.name: result for result in results}
    found = (_order_family(name, family, by_name, seed) for name, family in _families(rows, ORDER))
    return tuple(family for family in found if family.metrics)


def _families(rows: Sequence[Row], part: str) -> Iterator[tuple[str, list[Row]]]:
    """Rows whose names differ in `part` alone, where there are several."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(without(part, row.name), []).append(row)
    return ((name, family) for name, family in found.items() if len(family) > 1)


def _seed_family(name: str, rows: Sequence[Row], by_name: ByName) -> SeedFamily:
    return SeedFamily(
        name=name,
        rows=tuple(rows),
        shots=shots_of(rows[0]),
        seeds=tuple(seed for row in rows if (seed := seed_of(row)) is not None),
        metrics=tuple(_over_seeds(metrics, rows, by_name) for metrics in _shared_metrics(rows)),
    )


def _over_seeds(metrics: Sequence[MetricResult], rows: Sequence[Row], by_name: ByName) -> SeedMetric:
    values, first = [metric.value for metric in metrics], metrics[0]
    return SeedMetric(
        metric=first.metric,
        filter=first.filter,
        mean=fmean(values),
        spread=_spread(values),
        min=min(values),
        max=max(values),
        stderr=_stderr(rows, first, by_name),
        n=first.n,
        higher_is_better=first.higher_is_better,
    )


def _order_family(name: str, rows: Sequence[Row], by_name: ByName, seed: int) -> OrderFamily:
    return OrderFamily(
        name=name,
        rows=tuple(rows),
        shots=shots_of(rows[0]),
        orders=len(rows),
        metrics=tuple(_over_orders(metrics, rows, by_name) for metrics in _shared_metrics(rows)),
        positions=added([positions(cells, seed=seed) for cells in _cells(rows, by_name)]),
    )


def _over_orders(metrics: Sequence[MetricResult], rows: Sequence[Row], by_name: ByName) -> OrderMetric:
    values, first = [metric.value for metric in metrics], metrics[0]
    return OrderMetric(
        metric=first.metric,
        filter=first.filter,
        mean=fmean(values),
        worst=None if first.higher_is_better is None else (min if first.higher_is_better else max)(values),
        spread=_spread(values),
        consistent=_consistent(rows, first, by_name),
        n=first.n,
        higher_is_better=first.higher_is_better,
    )


def shots_of(row: Row) -> int | None:
    """None for a group whose tasks have several numbers."""
    return row.plan.shots if isinstance(row, GroupResult) else row.task.shots.n


def seed_of(row: Row) -> int | None:
    """Of the examples; None for a group of tasks whose seed the run does not name."""
    return row.plan.seed if isinstance(row, GroupResult) else row.task.shots.seed


def order_of(row: Row) -> int:
    return row.plan.order if isinstance(row, GroupResult) else row.task.order


def _shared_metrics(rows: Sequence[Row]) -> Iterator[list[MetricResult]]:
    """Each metric whose value is a number in every row, row by row."""
    known = [{(metric.metric, metric.filter): metric for metric in row.metrics} for row in rows]
    for key in known[0]:
        found = [of_row[key] for of_row in known if key in of_row and isinstance(of_row[key].value, Real)]
        if len(found) == len(rows):
            yield found


def _stderr(rows: Sequence[Row], metric: MetricResult, by_name: ByName) -> float | None:
    key = (metric.metric, metric.filter)
    if not isinstance(metric, GroupMetric):
        return _documents_stderr(key, [row for row in rows if isinstance(row, TaskResult)])
    members = _cells(rows, by_name, having=key)
    return mean_stderr([_documents_stderr(key, cells) for cells in members], _weights(members, metric))


def _consistent(rows: Sequence[Row], metric: MetricResult, by_name: ByName) -> float | None:
    """A group's is the mean of its tasks', with the weights of its row."""
    key = (metric.metric, metric.filter)
    if not isinstance(metric, GroupMetric):
        return _always_right(key, [row for row in rows if isinstance(row, TaskResult)])
    members = _cells(rows, by_name, having=key)
    shares = [share for cells in members if (share := _always_right(key, cells)) is not None]
    return weighted_mean(shares, _weights(members, metric)) if len(shares) == len(members) else None


def _cells(rows: Sequence[Row], by_name: ByName, *, having: Key | None = None) -> list[list[TaskResult]]:
    """Of each task below `rows` its cells in them: as many as rows, or one for a task that they make no difference to.

    `having` leaves out tasks without that metric.
    """
    names = [row.plan.tasks if isinstance(row, GroupResult) else (row.name,) for row in rows]
    cells = [[by_name[name] for name in dict.fromkeys(of_task)] for of_task in zip(*names, strict=True)]
    return [of_task for of_task in cells if having is None or any(_metric(having, cell) for cell in of_task)]


def _weights(members: Sequence[Sequence[TaskResult]], metric: GroupMetric) -> list[int]:
    return [cells[0].documents if metric.weighted else 1 for cells in members]


def _metric(key: Key, result: TaskResult) -> MetricResult | None:
    return next((metric for metric in result.metrics if (metric.metric, metric.filter) == key), None)


def _documents_stderr(key: Key, cells: Sequence[TaskResult]) -> float | None:
    """Standard error of the documents' means over `cells`; of a single cell its own, whatever rule it has."""
    found = [metric for cell in cells if (metric := _metric(key, cell))]
    if len(cells) == 1:
        return found[0].stderr
    if len(found) < len(cells) or any(metric.stderr_by != "mean" for metric in found):
        return None
    by_document = _by_document(key, cells)
    return None if by_document is None else stderr_of_mean([fmean(values) for values in by_document])


def _always_right(key: Key, cells: Sequence[TaskResult]) -> float | None:
    by_document = _by_document(key, cells)
    if not by_document or any(value not in (0, 1) for values in by_document for value in values):
        return None
    return fmean(all(values) for values in by_document)


def _by_document(key: Key, cells: Sequence[TaskResult]) -> list[list[float]] | None:
    """Each document's values in all cells; None where they are no numbers, or not of the same documents."""
    known = [_document_values(key, cell) for cell in cells]
    if any(of_cell is None or of_cell.keys() != (known[0] or {}).keys() for of_cell in known):
        return None
    return [[of_cell[doc] for of_cell in known if of_cell] for doc in known[0] or ()]


def _document_values(key: Key, cell: TaskResult) -> dict[int, float] | None:
    metric, pipeline = key
    scores = {row.doc_id: row.scores[metric] for row in cell.rows if row.filter == pipeline and metric in row.scores}
    plain = {doc: _of_python(value) for doc, value in scores.items()}
    return plain if all(isinstance(value, Real) for value in plain.values()) else None


def _of_python(value: Any) -> Any:
    """A single number of numpy's or torch's as Python's; anything else as it is."""
    return value.item() if getattr(value, "ndim", None) == 0 else value


def _spread(values: Sequence[float]) -> float:
    """Sample standard deviation; exactly 0 between equal values."""
    return stdev(values) if all(map(math.isfinite, values)) else math.nan
