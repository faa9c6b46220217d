from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from random import Random
from typing import Any

import numpy as np
import pytest

from hydra_eval.errors import UserError
from hydra_eval.filters.build import build_pipelines
from hydra_eval.metrics.build import build_metrics
from hydra_eval.records import SampleRow
from hydra_eval.results.aggregate import aggregate, merge_rows
from hydra_eval.tasks.task import Task

from ..toys import COLOURS, docs_of, toy_task


def row(doc: int, *, task: str = "toy", filter: str = "none", **scores: Any) -> SampleRow:
    return SampleRow(
        task=task,
        doc_id=doc,
        filter=filter,
        doc=COLOURS[0],
        target=0,
        arguments=(("context", " green"),),
        resps=(((-1.0, True),),),
        filtered_resps=((-1.0, True),),
        scores=scores or {"acc": 1.0},
    )


def two_tasks() -> list[Task]:
    """`late` comes first in the run, and has two pipelines in an order that is not the alphabet's."""
    pipelines = build_pipelines({"strict": ["take_first"], "flexible": ["take_first"]}, where="t")
    return [toy_task(name="late", filters=pipelines), toy_task(name="early")]


def rows_of_two_tasks() -> list[SampleRow]:
    """All rows in the order of the files."""
    return [
        *(row(doc, task="late", filter=name) for name in ("strict", "flexible") for doc in range(4)),
        *(row(doc, task="early") for doc in range(4)),
    ]


@pytest.mark.parametrize("world", range(1, 9))
def test_rows_come_in_the_runs_order_whatever_rank_had_them(world: int) -> None:
    shuffled = rows_of_two_tasks()
    Random(world).shuffle(shuffled)
    per_rank = [shuffled[rank::world] for rank in range(world)]
    assert merge_rows(per_rank, two_tasks()) == rows_of_two_tasks()


def test_empty_ranks_are_fine() -> None:
    assert merge_rows([[], rows_of_two_tasks(), []], two_tasks()) == rows_of_two_tasks()


@pytest.mark.parametrize(
    "rows",
    [
        rows_of_two_tasks()[1:],
        [*rows_of_two_tasks(), rows_of_two_tasks()[3]],
        [*rows_of_two_tasks()[1:], rows_of_two_tasks()[3]],
        [],
    ],
    ids=["one missing", "one twice", "one missing and one twice", "none"],
)
def test_rows_that_are_not_complete_are_an_error(rows: list[SampleRow]) -> None:
    with pytest.raises(RuntimeError, match=rf"{len(rows)} rows were gathered, 12 expected, or some of them twice"):
        merge_rows([rows[:5], rows[5:]], two_tasks())


def test_a_limit_counts_the_documents_that_are_evaluated() -> None:
    task = toy_task(docs=docs_of(COLOURS)[:2])
    assert len(merge_rows([[row(0)], [row(1)]], [task])) == 2


def results_of(task: Task, rows: list[SampleRow], bootstrap: int = 0) -> dict[tuple[str, str], Any]:
    return {
        (found.metric, found.filter): (found.value, found.stderr, found.n, found.higher_is_better)
        for found in aggregate(task, rows, bootstrap=bootstrap).metrics
    }


def test_one_number_with_its_error_per_metric_and_pipeline() -> None:
    task = two_tasks()[0]
    rows = [row(doc, filter="strict", acc=float(doc > 0), acc_norm=1.0) for doc in range(4)]
    rows += [row(doc, filter="flexible", acc=0.0, acc_norm=0.0) for doc in range(4)]
    assert results_of(task, rows) == {
        ("acc", "strict"): (0.75, 0.25, 4, True),
        ("acc_norm", "strict"): (1.0, 0.0, 4, True),
        ("acc", "flexible"): (0.0, 0.0, 4, True),
        ("acc_norm", "flexible"): (0.0, 0.0, 4, True),
    }


def test_one_document_has_no_error() -> None:
    assert results_of(toy_task(), [row(0, acc=1.0)]) == {("acc", "none"): (1.0, None, 1, True)}


def test_a_metric_that_some_documents_lack_says_its_own_n() -> None:
    task = toy_task(process_results=lambda doc, outputs: {})
    rows = [row(0, own=1.0, rare=1.0), row(1, own=0.0), row(2, own=1.0, rare=0.0)]
    found = results_of(task, rows)
    assert (found["own", "none"][2], found["rare", "none"][2]) == (3, 2)
    assert aggregate(task, rows, bootstrap=0).documents == 3


def test_a_name_that_no_metric_declares_is_a_mean_and_a_note_says_so(caplog: pytest.LogCaptureFixture) -> None:
    task = toy_task(process_results=lambda doc, outputs: {}, metrics=())
    assert results_of(task, [row(0, own=1.0), row(1, own=0.0)]) == {("own", "none"): (0.5, 0.5, 2, None)}
    assert caplog.messages == [
        "toy.yaml: metric_list does not name what process_results gives as own; the mean is taken."
    ]


@pytest.mark.parametrize(
    "value",
    ["yes", None, {"a": 1}, (1, 2), [1.0], {1}, b"x", 1j, np.array([1.0, 2.0])],
    ids=["text", "none", "mapping", "pair", "list", "set", "bytes", "complex", "array"],
)
def test_a_value_that_is_no_number_is_told_with_its_document(value: Any) -> None:
    with pytest.raises(
        UserError, match=r"^toy.yaml: metric 'own': aggregation 'mean' cannot combine what document 1 has"
    ):
        aggregate(toy_task(), [row(0, own=1.0), row(1, own=value)], bootstrap=0)


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.bool_, Decimal], ids=lambda kind: kind.__name__)
def test_a_number_of_another_library_becomes_one_of_pythons(kind: Any) -> None:
    found = aggregate(toy_task(), [row(0, own=kind(1)), row(1, own=kind(1))], bootstrap=0).metrics[0]
    assert (found.value, type(found.value)) == (1.0, float)


def test_a_declared_aggregation_counts_for_what_process_results_gives() -> None:
    spec = [{"metric": "own", "aggregation": "median", "higher_is_better": False}]
    declared = build_metrics(spec, output_type="multiple_choice", has_process_results=True, where="t")
    task = toy_task(process_results=lambda doc, outputs: {}, metrics=declared)
    rows = [row(doc, own=value) for doc, value in enumerate([9.0, 1.0, 2.0])]
    assert results_of(task, rows) == {("own", "none"): (2.0, None, 3, False)}


def test_a_mappings_scores_take_aggregation_and_direction_of_their_metric() -> None:
    def pass_at(references: Any, predictions: Any) -> dict[str, float]:
        return {}

    spec = [{"metric": pass_at, "aggregation": max, "higher_is_better": False}, {"metric": "exact_match"}]
    declared = build_metrics(spec, output_type="generate_until", has_process_results=False, where="t")
    task = toy_task("generate_until", metrics=declared)
    rows = [
        replace(row(doc, **{"pass@1": value, "exact_match": value}), metric_of={"pass@1": "pass_at"})
        for doc, value in enumerate([0.25, 1.0, 0.5])
    ]
    found = results_of(task, rows)
    assert found["pass@1", "none"] == (1.0, None, 3, False)
    assert found["exact_match", "none"][3] is True


def test_bootstrapped_errors_are_left_out_with_no_resamples() -> None:
    rolling = toy_task("loglikelihood")
    rows = [row(doc, perplexity=value, acc=1) for doc, value in enumerate([-1.0, -2.0, -4.0])]
    assert results_of(rolling, rows)["perplexity", "none"][1] is None
    assert results_of(rolling, rows, bootstrap=100)["perplexity", "none"][1] > 0


def test_rows_and_task_go_along() -> None:
    rows = [row(0), row(1)]
    result = aggregate(toy_task(), rows, bootstrap=0)
    assert result.rows == tuple(rows) and result.task.name == "toy"


def test_a_task_without_a_score_has_no_documents() -> None:
    assert aggregate(toy_task(), [replace(row(0), scores={})], bootstrap=0).documents == 0


@pytest.mark.parametrize("value", [None, "good", {"a": 1.0}], ids=repr)
def test_a_value_that_is_no_number_is_named_with_its_document(value: Any) -> None:
    rows = [row(0), row(1, acc=value)]
    with pytest.raises(UserError, match=r"toy.yaml: metric 'acc': aggregation 'mean' .* document 1 has"):
        aggregate(toy_task(), rows, bootstrap=0)


def test_an_own_aggregation_that_fails_is_named() -> None:
    metric = {"metric": "acc", "aggregation": lambda values: 1 / 0}
    metrics = build_metrics([metric], output_type="multiple_choice", has_process_results=False, where="t")
    with pytest.raises(ZeroDivisionError) as caught:
        aggregate(toy_task(metrics=metrics), [row(0)], bootstrap=0)
    assert caught.value.__notes__ == ["in task 'toy', metric 'acc', aggregation '<lambda>'"]
