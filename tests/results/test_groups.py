from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from statistics import fmean, stdev
from typing import Any

import pytest

from hydra_eval.errors import UserError
from hydra_eval.results.aggregate import MetricResult, TaskResult
from hydra_eval.results.group_plans import plan_groups
from hydra_eval.results.groups import GroupMetric, GroupResult, aggregate_groups, mean_stderr
from hydra_eval.results.report import Results
from hydra_eval.tasks.asks import Ask
from hydra_eval.tasks.task import Task

from ..toys import docs_of, shot_plan, toy_task

SPEC = {"all": {"name": "all"}}


def cell(name: str, *, asks: Sequence[Ask] = (Ask("all"),), shots: int = 0, documents: int = 4) -> Task:
    docs = docs_of([{"number": number} for number in range(documents)], task=name)
    config = {"task": name.partition("|")[0]}
    plan = replace(shot_plan(), n=shots)
    return replace(
        toy_task(), name=name, docs=docs, config=config, shots=plan, asks=tuple(asks), key=name.partition("|")[0]
    )


def scored(task: Task, value: Any, stderr: float | None = None, *, metric: str = "acc") -> TaskResult:
    n = len(task.docs)
    result = MetricResult(metric=metric, filter="none", value=value, stderr=stderr, n=n, higher_is_better=True)
    return TaskResult(task=task, metrics=(result,), rows=())


def group(members: Sequence[str], tasks: Sequence[str], *means: Any, **more: Any) -> dict[str, Any]:
    return {"members": list(members), "tasks": list(tasks), "aggregate_metric_list": list(means) or None, **more}


def row_of(means: Any, results: Sequence[TaskResult]) -> GroupResult:
    """The row of one group over `results`."""
    names = [result.task.name for result in results]
    plans = plan_groups({"all": group(names, names, means)}, SPEC, [result.task for result in results])
    return aggregate_groups(plans, results)[0]


def number(means: Any, results: Sequence[TaskResult]) -> GroupMetric:
    (metric,) = row_of(means, results).metrics
    return metric


def share(right: float, n: int) -> float:
    """Standard error of a share of right answers."""
    return math.sqrt(right * (1 - right) / (n - 1))


SMALL_AND_LARGE = [
    scored(cell("small", documents=10), 0.5, share(0.5, 10)),
    scored(cell("large", documents=1000), 0.9, share(0.9, 1000)),
]


@pytest.mark.parametrize(
    ("weighted", "value", "stderr"), [(False, 0.7, 0.08347), (True, 0.89604, 0.00954)], ids=["plain", "weighted"]
)
def test_the_error_is_that_of_the_mean_it_stands_beside(weighted: bool, value: float, stderr: float) -> None:
    found = number({"metric": "acc", "weight_by_size": weighted}, SMALL_AND_LARGE)
    assert (found.weighted, found.n) == (weighted, 1010)
    assert found.value == pytest.approx(value, abs=5e-6)
    assert found.stderr == pytest.approx(stderr, abs=5e-6)


@pytest.mark.parametrize("weights", [[1, 1, 1], [20, 60, 180]], ids=["plain", "weighted"])
def test_the_error_is_what_drawing_the_documents_again_gives(weights: list[int]) -> None:
    generator, sizes, rights = Random(1), [20, 60, 180], [0.3, 0.6, 0.8]

    def drawn() -> float:
        means = [fmean(generator.random() < right for _ in range(n)) for right, n in zip(rights, sizes, strict=True)]
        return sum(mean * weight for mean, weight in zip(means, weights, strict=True)) / sum(weights)

    errors = [math.sqrt(right * (1 - right) / n) for right, n in zip(rights, sizes, strict=True)]
    assert mean_stderr(errors, weights) == pytest.approx(stdev(drawn() for _ in range(4000)), rel=0.05)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_a_group_of_one_is_that_one(weighted: bool) -> None:
    found = number({"metric": "acc", "weight_by_size": weighted}, SMALL_AND_LARGE[:1])
    assert (found.value, found.stderr) == (0.5, pytest.approx(share(0.5, 10)))


def test_without_an_error_of_each_there_is_none_of_the_mean() -> None:
    assert number({"metric": "acc"}, [*SMALL_AND_LARGE, scored(cell("bare"), 0.5)]).stderr is None


def test_a_task_without_the_metric_is_named(caplog: pytest.LogCaptureFixture) -> None:
    other = scored(cell("other"), 0.1, 0.1, metric="f1")
    found = number({"metric": "acc"}, [*SMALL_AND_LARGE, other])
    assert (found.missing, found.n) == (("other",), 1010)
    assert "all: 'acc,none' is missing in other." in caplog.text


@pytest.mark.parametrize(
    ("entry", "name"),
    [({"metric": "f1", "filter_list": "none"}, "f1,none"), ({"metric": "f1"}, "f1")],
    ids=["filter", "any"],
)
def test_a_metric_that_no_task_has_is_said_and_left_out(
    entry: dict[str, Any], name: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert row_of(entry, SMALL_AND_LARGE).metrics == ()
    assert f"all: no task of the group has the metric '{name}'." in caplog.text


def test_a_star_stands_for_every_metric() -> None:
    results = [scored(cell("a"), 0.5, 0.1), scored(cell("b"), 0.1, 0.1, metric="f1")]
    assert [metric.metric for metric in row_of({"metric": "*"}, results).metrics] == ["acc", "f1"]


def test_only_the_named_filters_count() -> None:
    task = cell("a")
    strict, loose = (
        MetricResult(metric="acc", filter=name, value=value, stderr=None, n=4, higher_is_better=True)
        for name, value in (("strict", 0.1), ("loose", 0.2))
    )
    results = [TaskResult(task=task, metrics=(strict, loose), rows=())]
    assert [metric.filter for metric in row_of({"metric": "acc"}, results).metrics] == ["loose", "strict"]
    assert number({"metric": "acc", "filter_list": ["strict"]}, results).value == 0.1


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"metric": "acc", "weight_bysize": True}, "group 'all': aggregate_metric_list has no key 'weight_bysize'."),
        ({"metric": "acc", "aggregation": "median"}, "aggregation='median': only the mean"),
        ({"metric": "acc", "weight_by_size": "maybe"}, "weight_by_size='maybe': must be true or false"),
        ("acc", "must be a mapping with the key metric, not 'acc'"),
    ],
    ids=["a misspelt key", "another aggregation", "no truth value", "no mapping"],
)
def test_what_cannot_be_read_is_refused_before_the_run(entry: Any, message: str) -> None:
    with pytest.raises(UserError) as caught:
        plan_groups({"all": group(["a"], ["a"], entry)}, SPEC, [cell("a")])
    assert message in str(caught.value)


GROUPS = {
    "inner": group(["a", "b"], ["a", "b"], {"metric": "acc"}),
    "outer": group(["inner", "c"], ["a", "b", "c"], {"metric": "acc"}, alias="Outer", metadata={"version": 2}),
}


def test_a_group_within_a_group_counts_its_tasks_not_its_mean() -> None:
    tasks = [cell("a", documents=1), cell("b", documents=1), cell("c", documents=2)]
    results = [scored(task, value, 0.1) for task, value in zip(tasks, [1.0, 0.0, 1.0], strict=True)]
    plans = plan_groups(GROUPS, SPEC, tasks)
    rows = Results(tasks=tuple(results), groups=tuple(aggregate_groups(plans, results)))
    order = [(depth, row.name) for depth, row in rows.in_order()]
    assert order == [(0, "outer"), (1, "inner"), (2, "a"), (2, "b"), (1, "c")]
    assert [row.metrics[0].value for row in rows.groups] == [0.5, 0.75]
    assert [(plan.members, plan.alias, plan.version) for plan in plans] == [
        (("a", "b"), "inner", "N/A"),
        (("inner", "c"), "Outer", "2"),
    ]


def test_a_group_asked_with_two_numbers_of_shots_has_two_rows() -> None:
    selection = {f"inner|{shots}": {"name": "inner"} for shots in (0, 5)}
    tasks = [cell(f"{n}|{shots}", asks=[Ask(f"inner|{shots}", shots)], shots=shots) for shots in (0, 5) for n in "ab"]
    plans = plan_groups({"inner": GROUPS["inner"]}, selection, tasks)
    assert [(plan.name, plan.tasks, plan.shots) for plan in plans] == [
        ("inner|0", ("a|0", "b|0"), 0),
        ("inner|5", ("a|5", "b|5"), 5),
    ]


NINE = [Ask("g", shots, seed) for shots in (0, 1, 5) for seed in (1, 2, 3)]
PAIR = group(["a", "whole"], ["a", "whole"], {"metric": "acc"})


def of_lists() -> list[Task]:
    """Nine cells of one task, and the only one of a task that takes no shots."""
    cells = [cell(f"a|{ask.shots}|seed={ask.seed}", asks=[ask], shots=ask.shots or 0) for ask in NINE]
    return [*cells, cell("whole", asks=NINE)]


def test_a_group_has_one_row_per_count_and_seed_over_the_cells_of_just_that() -> None:
    plans = plan_groups({"g": PAIR}, {"g": {"name": "g"}}, of_lists())
    assert [plan.name for plan in plans] == [f"g|{ask.shots}|seed={ask.seed}" for ask in NINE]
    assert [plan.tasks for plan in plans] == [(f"a|{ask.shots}|seed={ask.seed}", "whole") for ask in NINE]
    assert [(plan.shots, plan.seed) for plan in plans] == [
        (0, 1), (0, 2), (0, 3), (None, 1), (None, 2), (None, 3), (None, 1), (None, 2), (None, 3)
    ]  # fmt: skip


def test_a_cell_that_serves_several_rows_counts_in_each_and_is_shown_once() -> None:
    tasks = of_lists()
    results = [scored(task, 1.0 if task.name == "whole" else 0.5) for task in tasks]
    groups = aggregate_groups(plan_groups({"g": PAIR}, {"g": {"name": "g"}}, tasks), results)
    assert [row.metrics[0].value for row in groups] == [0.75] * 9
    shown = [row.name for _, row in Results(tasks=tuple(results), groups=tuple(groups)).in_order()]
    assert shown[:4] == ["g|0|seed=1", "a|0|seed=1", "whole", "g|0|seed=2"]
    assert len(shown) == len(set(shown)) == 9 + 10


def test_an_inner_group_without_variants_is_a_member_of_each_row_above() -> None:
    groups = {"inner": group(["whole"], ["whole"]), "g": group(["a", "inner"], ["a", "whole"])}
    inner, *outer = plan_groups(groups, {"g": {"name": "g"}}, of_lists())
    assert (inner.name, len(outer)) == ("inner", 9)
    assert {plan.members[1] for plan in outer} == {"inner"}


@pytest.mark.parametrize(
    ("asks", "shots", "names"),
    [
        ([Ask("g"), Ask("g|2", 2)], [(1, 3), (2, 2)], ["g (own shots)", "g|2"]),
        ([Ask("g"), Ask("g|2", 2)], [(1, 1), (2, 2)], ["g|1", "g|2"]),
        ([Ask("g", None, 7), Ask("g", None, 8)], [(1, 3), (1, 3)], ["g|seed=7", "g|seed=8"]),
        ([Ask("g", 2, None, 0), Ask("g", 2, None, 1)], [(2, 2), (2, 2)], ["g|2|order=0", "g|2|order=1"]),
        ([Ask("g@k=4", 2), Ask("g@k=8", 2)], [(2, 2), (2, 2)], ["g@k=4|2", "g@k=8|2"]),
    ],
    ids=["their own, mixed", "their own, shared", "seeds", "orders", "parameters"],
)
def test_a_groups_row_says_what_tells_it_apart(asks: Any, shots: Any, names: list[str]) -> None:
    selection = {"g": {"name": "g"}, "g|2": {"name": "g"}}
    selection |= {f"g@k={k}": {"name": "g", "parameters": {"k": k}} for k in (4, 8)}
    tasks = [
        replace(cell(f"{key}|row {row}", asks=[ask], shots=n), key=key)
        for row, (ask, counts) in enumerate(zip(asks, shots, strict=True))
        for key, n in zip("ab", counts, strict=True)
    ]
    plans = plan_groups({"g": group(["a", "b"], ["a", "b"])}, selection, tasks)
    assert [plan.name for plan in plans] == names


def test_two_settings_of_one_task_keep_to_their_groups() -> None:
    """`a` as it is, and as the group changed it: one name, two keys."""
    plain, changed = cell("a"), replace(cell("g__a"), config={"task": "a"}, key="g__a")
    groups = {"g": group(["g__a"], ["g__a"], {"metric": "acc"}), "all": group(["a", "g"], ["a", "g__a"])}
    plans = plan_groups(groups, SPEC, [plain, changed])
    assert [(plan.name, plan.members, plan.tasks) for plan in plans] == [
        ("g", ("g__a",), ("g__a",)),
        ("all", ("a", "g"), ("a", "g__a")),
    ]


@pytest.mark.parametrize(
    ("aliases", "own", "shown"),
    [({}, None, "a|2"), ({}, "Own", "Own|2"), ({"a": "Given"}, "Own", "Given|2")],
    ids=["name", "the task's alias", "the group's alias"],
)
def test_a_row_is_called_by_the_nearest_alias(aliases: dict[str, str], own: str | None, shown: str) -> None:
    task = replace(cell("a|2"), config={"task": "a", "task_alias": own})
    groups = {"all": group(["a"], ["a"], aliases=aliases)}
    results = [scored(task, 1.0)]
    rows = Results(tasks=tuple(results), groups=tuple(aggregate_groups(plan_groups(groups, SPEC, [task]), results)))
    assert [rows.alias(row) for _, row in rows.in_order()] == ["all", shown]


def test_a_task_outside_of_groups_keeps_its_place() -> None:
    tasks = [cell("x"), cell("a"), cell("b"), cell("y")]
    results = [scored(task, 0.5) for task in tasks]
    groups = aggregate_groups(plan_groups({"inner": GROUPS["inner"]}, SPEC, tasks), results)
    rows = Results(tasks=tuple(results), groups=tuple(groups))
    assert [row.name for _, row in rows.in_order()] == ["x", "inner", "a", "b", "y"]
    assert [row.name for row in rows.outermost()] == ["x", "inner", "y"]


def test_a_group_without_a_mean_gives_way_to_its_members() -> None:
    tasks = [cell("x"), cell("a"), cell("b")]
    results = [scored(task, 0.5) for task in tasks]
    inner = {**GROUPS["inner"], "aggregate_metric_list": None}
    rows = Results(
        tasks=tuple(results), groups=tuple(aggregate_groups(plan_groups({"inner": inner}, SPEC, tasks), results))
    )
    assert [row.name for row in rows.outermost()] == ["x", "a", "b"]


@pytest.mark.parity
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_values_counts_and_plain_errors_are_those_of_lm_eval(weighted: bool) -> None:
    """Its weighted error pools variances instead, which comes to nearly the same."""
    metrics = pytest.importorskip("lm_eval.api.metrics", reason="needs lm-evaluation-harness (extra: parity)")
    values, errors, sizes = [0.5, 0.9], [share(0.5, 10), share(0.9, 1000)], [10, 1000]
    found = number({"metric": "acc", "weight_by_size": weighted}, SMALL_AND_LARGE)
    pooled = metrics.pooled_sample_stderr(errors, sizes) if weighted else metrics.unweighted_mean_stderr(errors)
    assert found.value == metrics.aggregate_subtask_metrics(values, sizes, weighted)
    assert found.stderr == pytest.approx(pooled, rel=2e-3 if weighted else 1e-12)
