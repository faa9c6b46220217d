from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from io import StringIO
from typing import Any

import pytest
from rich.console import Console
from rich.table import Table

from hydra_eval.results.aggregate import MetricResult, TaskResult
from hydra_eval.results.families import OrderFamily, OrderMetric
from hydra_eval.results.positions import Positions
from hydra_eval.results.report import Results, report
from hydra_eval.results.tables import FOOTNOTE, over_orders_table, result_tables

from ..toys import shot_plan, toy_task


def cell(name: str, *, value: float = 0.5, **shots: Any) -> TaskResult:
    task = replace(toy_task(), name=name, shots=shot_plan(**shots))
    metric = MetricResult(metric="acc", filter="none", value=value, stderr=0.25, n=4, higher_is_better=True)
    return TaskResult(task=task, metrics=(metric,), rows=())


SEEDS = [cell(f"toy|1|seed={seed}", value=seed / 4, n=1, seed=seed) for seed in (1, 2, 3)]
ORDERS = OrderFamily(
    name="toy|2",
    rows=(cell("toy|2|order=0"), cell("toy|2|order=1")),
    shots=2,
    orders=2,
    metrics=tuple(
        OrderMetric(
            metric=metric,
            filter="none",
            mean=0.5,
            worst=0.25,
            spread=0.125,
            consistent=share,
            n=4,
            higher_is_better=True,
        )
        for metric, share in (("acc", 0.75), ("acc_norm", None))
    ),
    positions={"none": Positions(documents=4, flipped=1, picked=(7, 1), gold=(4, 4))},
)


def text_of(table: Table) -> str:
    stream = StringIO()
    Console(file=stream, width=200).print(table)
    return stream.getvalue()


def lines_of(table: Table) -> list[list[str]]:
    """The cells of each line that has any."""
    return [line.split() for line in text_of(table).splitlines() if line.strip() and not set(line) <= set(" ─")]


def columns_of(table: Table) -> list[str]:
    return [str(column.header) for column in table.columns]


@pytest.mark.parametrize(
    ("results", "columns"),
    [
        ([cell("toy")], ["task", "version", "shots", "filter"]),
        (SEEDS, ["task", "version", "shots", "seed", "filter"]),
    ],
    ids=["one seed", "several"],
)
def test_a_seed_is_told_where_there_are_several(results: Sequence[TaskResult], columns: list[str]) -> None:
    first, *more = result_tables(report(results, [], seed=1))
    assert columns_of(first)[: len(columns)] == columns
    assert len(more) == len(results) // 2


def test_mean_and_spread_stand_apart_from_the_error() -> None:
    _, table = result_tables(report(SEEDS, [], seed=1))
    title, head, line = lines_of(table)
    assert title == ["over", "seeds"]
    assert head == ["task", "shots", "filter", "metric", "mean", "spread", "min", "max", "stderr", "seeds"]
    assert line == ["toy|1", "1", "none", "acc", "↑", "0.5000", "0.2500", "0.2500", "0.7500", "1,2,3"]


def test_orders_show_their_worst_and_where_the_picks_stand() -> None:
    _, _, first, second = lines_of(over_orders_table(Results(over_orders=(ORDERS,))))
    assert first[:5] == ["toy|2", "2", "none", "acc", "↑"]
    assert first[5:] == ["0.5000", "0.2500", "0.1250", "0.7500", "0.2500", "7/1", "4/4"]
    assert second == ["none", "acc_norm", "↑", "0.5000", "0.2500", "0.1250"]


@pytest.mark.parametrize(
    ("shots", "shown", "noted"),
    [({"n": 5, "from_eval": True}, "5*", True), ({"n": 0, "from_eval": True}, "0", False), ({"n": 5}, "5", False)],
    ids=["from the evaluated split", "none at all", "from another"],
)
def test_examples_from_the_evaluated_split_are_marked(shots: dict[str, Any], shown: str, noted: bool) -> None:
    (table,) = result_tables(report([cell("toy", **shots)], [], seed=1))
    assert lines_of(table)[1][:3] == ["toy", "1.0", shown]
    assert (FOOTNOTE in text_of(table)) is noted
