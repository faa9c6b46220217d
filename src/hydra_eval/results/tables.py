"""The results as tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from rich import box
from rich.table import Table

from hydra_eval.results.aggregate import MetricResult
from hydra_eval.results.families import OrderFamily, Row, SeedFamily, order_of, seed_of
from hydra_eval.results.groups import GroupResult
from hydra_eval.results.positions import Positions
from hydra_eval.results.report import Results

Line: TypeAlias = tuple[str, ...]

ARROWS = {True: "↑", False: "↓", None: ""}
WORDS = ("task", "version", "filter", "metric")
"""Columns of text; the others hold numbers."""
FROM_EVAL = "*"
FOOTNOTE = f"{FROM_EVAL} examples from the split that is evaluated"


def result_tables(results: Results) -> list[Table]:
    """The rows, then what is known over several seeds and over several orders of the choices."""
    tables = [results_table(results)]
    if results.over_seeds:
        tables.append(over_seeds_table(results))
    if results.over_orders:
        tables.append(over_orders_table(results))
    return tables


def results_table(results: Results) -> Table:
    """One line per task or group, filter and metric, with its standard error; members stand below their group."""
    told = [*(["seed"] if results.over_seeds else []), *(["order"] if results.over_orders else [])]
    table = _table(["task", "version", "shots", *told, "filter", "n", "metric", "value", "stderr"])
    ordered = results.in_order()
    for place, (depth, row) in enumerate(ordered):
        head = ("  " * depth + results.alias(row), *_version_and_shots(row), *(_told(name, row) for name in told))
        _add_lines(table, head, [metric_cells(metric) for metric in row.metrics])
        if ordered[place + 1 : place + 2] == [] or ordered[place + 1][0] == 0:
            table.add_section()
    if any(_from_eval(row) for _, row in ordered):
        table.caption = FOOTNOTE
    return table


def over_seeds_table(results: Results) -> Table:
    """Mean and between-seed spread of each family, apart from the standard error over documents."""
    columns = ["task", "shots", "filter", "metric", "mean", "spread", "min", "max", "stderr", "seeds"]
    table = _table(columns, title="over seeds")
    for family in results.over_seeds:
        _add_lines(table, (results.family_alias(family), _count(family.shots)), _seed_lines(family))
    return table


def over_orders_table(results: Results) -> Table:
    """Mean, worst and spread over the orders of the choices, and what a preferred letter shows in."""
    columns = ["task", "shots", "filter", "metric", "mean", "worst", "spread", "consistent", "flips", "picked", "right"]
    table = _table(columns, title="over orders of the choices")
    for family in results.over_orders:
        _add_lines(table, (results.family_alias(family), _count(family.shots)), _order_lines(family))
    return table


def family_lines(results: Results) -> Iterator[str]:
    """The figures over seeds and orders, one line each, for the log."""
    for seeds in results.over_seeds:
        yield from (f"{seeds.name} over seeds: {' '.join(line)}" for line in _seed_lines(seeds))
    for orders in results.over_orders:
        yield from (f"{orders.name} over orders: {' '.join(line)}" for line in _order_lines(orders))


def metric_cells(metric: MetricResult) -> Line:
    return (metric.filter, str(metric.n), _named(metric), number(metric.value), _error(metric.stderr))


def number(value: Any) -> str:
    return f"{value:.4f}" if isinstance(value, float | int) else str(value)


def _seed_lines(family: SeedFamily) -> list[Line]:
    seeds = ",".join(map(str, family.seeds))
    return [
        (
            metric.filter,
            _named(metric),
            *map(number, (metric.mean, metric.spread, metric.min, metric.max)),
            _error(metric.stderr),
            seeds,
        )
        for metric in family.metrics
    ]


def _order_lines(family: OrderFamily) -> list[Line]:
    """What is known of places stands beside the first metric of its filter."""
    left = dict(family.positions)
    return [
        (
            metric.filter,
            _named(metric),
            *(_known(value) for value in (metric.mean, metric.worst, metric.spread, metric.consistent)),
            *_places(left.pop(metric.filter, None)),
        )
        for metric in family.metrics
    ]


def _places(found: Positions | None) -> Line:
    if found is None:
        return ("", "", "")
    return (number(found.flip_rate), _counts(found.picked), _counts(found.gold))


def _counts(by_place: Iterable[int]) -> str:
    return "/".join(map(str, by_place))


def _table(columns: Sequence[str], *, title: str | None = None) -> Table:
    table = Table(
        title=title, title_justify="left", caption_justify="left", box=box.SIMPLE_HEAD, header_style="bold"
    )  # fmt: skip
    for name in columns:
        table.add_column(name, justify="left" if name in WORDS else "right")
    return table


def _add_lines(table: Table, head: Line, lines: Sequence[Line]) -> None:
    """`head` is said once."""
    for line in lines:
        table.add_row(*head, *line)
        head = ("",) * len(head)
    if not lines:
        table.add_row(*head)


def _version_and_shots(row: Row) -> Line:
    if isinstance(row, GroupResult):
        return row.plan.version, _count(row.plan.shots)
    return str(row.task.version), _count(row.task.shots.n) + (FROM_EVAL if _from_eval(row) else "")


def _from_eval(row: Row) -> bool:
    return not isinstance(row, GroupResult) and row.task.shots.n > 0 and row.task.shots.from_eval


def _told(name: str, row: Row) -> str:
    return _count(seed_of(row) if name == "seed" else order_of(row))


def _count(value: int | None) -> str:
    return "" if value is None else str(value)


def _known(value: float | None) -> str:
    return "" if value is None else number(value)


def _error(value: float | None) -> str:
    return "" if value is None else f"± {value:.4f}"


def _named(metric: Any) -> str:
    return f"{metric.metric} {ARROWS[metric.higher_is_better]}".rstrip()
