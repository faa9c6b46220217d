from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pytest

from hydra_eval.config.prompting import PromptConfig
from hydra_eval.metrics.build import build_metrics
from hydra_eval.pipeline import prepare, score
from hydra_eval.prompts.style import Style
from hydra_eval.records import Instance, Response, SampleRow
from hydra_eval.results.aggregate import TaskResult, aggregate, merge_rows
from hydra_eval.results.families import SeedFamily, SeedMetric, over_seeds
from hydra_eval.results.group_plans import plan_groups
from hydra_eval.results.groups import aggregate_groups
from hydra_eval.results.report import Results, report
from hydra_eval.tasks.asks import Ask
from hydra_eval.tasks.task import Task

from ..toys import CHOICE, built, data_sets_prepared_in, docs_of, shot_plan, toy_task, write_task

SEEDS = ([1, 0, 1, 0], [1, 1, 1, 0], [1, 1, 1, 1])
"""Whether each of four documents is right, seed by seed."""


def row(task: str, doc: int, value: Any, metric: str = "acc") -> SampleRow:
    return SampleRow(
        task=task,
        doc_id=doc,
        filter="none",
        doc={},
        target="",
        arguments=(("", ""),),
        resps=(),
        filtered_resps=(),
        scores={metric: value},
    )


def result(
    key: str, values: Sequence[Any], *, name: str | None = None, metric: str = "acc", asks: Sequence[Ask] = ()
) -> TaskResult:
    """A cell whose documents have these values; without `name` the only one of its task."""
    name = name or key
    task = replace(
        toy_task(), name=name, key=key, config={"task": key}, asks=tuple(asks), docs=docs_of([{}] * len(values))
    )
    metrics = build_metrics([{"metric": metric}], output_type="generate_until", has_process_results=True, where="t")
    rows = [row(name, doc, value, metric) for doc, value in enumerate(values)]
    return aggregate(replace(task, metrics=metrics, shots=shot_plan(n=1, seed=_seed(name))), rows, bootstrap=0)


def _seed(name: str) -> int:
    return int(name.partition("seed=")[2].partition("|")[0] or 1234)


def seeds_of(key: str, per_seed: Sequence[Sequence[Any]], **more: Any) -> list[TaskResult]:
    return [
        result(key, values, name=f"{key}|1|seed={seed}", asks=[Ask("all", None, seed)], **more)
        for seed, values in enumerate(per_seed, start=1)
    ]


def family_of(results: Sequence[TaskResult]) -> SeedFamily:
    (family,) = over_seeds(results, results)
    return family


def figures_of(results: Sequence[TaskResult]) -> SeedMetric:
    (metric,) = family_of(results).metrics
    return metric


def test_a_family_says_what_its_rows_share() -> None:
    family = family_of(seeds_of("a", SEEDS))
    assert (family.name, family.shots, family.seeds, len(family.rows)) == ("a|1", 1, (1, 2, 3), 3)


def test_the_spread_is_between_seeds_and_the_error_between_documents() -> None:
    found = figures_of(seeds_of("a", SEEDS))
    assert (found.mean, found.spread, found.min, found.max, found.n) == (0.75, 0.25, 0.5, 1.0, 4)
    assert found.stderr == pytest.approx(stdev([1, 2 / 3, 1, 1 / 3]) / 2)


def test_equal_seeds_have_no_spread_and_the_error_of_each() -> None:
    same = seeds_of("a", [[0.1, 0.7, 0.3]] * 3)
    found = figures_of(same)
    assert found.spread == 0
    assert found.stderr == pytest.approx(same[0].metrics[0].stderr)


@pytest.mark.parametrize(
    ("per_seed", "metric"),
    [([[-1.0, -2.0], [-1.0, -3.0]], "perplexity"), ([[1.0, 0.0], [1.0, 0.0, 1.0]], "acc"), ([[1.0], [0.0]], "acc")],
    ids=["no mean", "other documents", "one document"],
)
def test_without_a_mean_over_the_same_documents_there_is_no_error(per_seed: Any, metric: str) -> None:
    assert figures_of(seeds_of("a", per_seed, metric=metric)).stderr is None


def test_an_infinite_score_has_no_spread() -> None:
    found = figures_of(seeds_of("a", [[math.inf, 1.0], [1.0, 1.0]]))
    assert found.mean == math.inf and math.isnan(found.spread)


def test_rows_that_differ_in_more_than_the_seed_are_no_family() -> None:
    cells = [result("a", [1, 0], name=name) for name in ("a|0|seed=1", "a|1|seed=2", "b|1|seed=1")]
    assert over_seeds(cells, cells) == ()


def test_there_is_one_family_per_order_of_the_choices() -> None:
    names = [f"a|1|seed={seed}|order={order}" for seed in (1, 2) for order in (0, 1)]
    cells = [result("a", [1, 0], name=name) for name in names]
    assert [family.name for family in over_seeds(cells, cells)] == ["a|1|order=0", "a|1|order=1"]


def grouped(results: Sequence[TaskResult], *, weighted: bool) -> Results:
    """A report with all of them in one group."""
    keys = list(dict.fromkeys(result.task.key for result in results))
    means = [{"metric": "acc", "weight_by_size": weighted}]
    groups = {"all": {"members": keys, "tasks": keys, "aggregate_metric_list": means}}
    plans = plan_groups(groups, {"all": {"name": "all"}}, [result.task for result in results])
    return report(results, aggregate_groups(plans, results), seed=1)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_a_groups_error_follows_from_its_tasks_and_leaves_seeds_out_that_change_nothing(weighted: bool) -> None:
    single = result("whole", [1, 0, 0, 0, 1, 0], asks=[Ask("all", None, seed) for seed in (1, 2, 3)])
    results = grouped([*seeds_of("a", SEEDS), single], weighted=weighted)
    of_group, of_task = results.over_seeds
    assert [family.name for family in results.over_seeds] == ["all|1", "a|1"]
    (found,) = of_group.metrics
    first, second = (4, 6) if weighted else (1, 1)
    errors = [of_task.metrics[0].stderr or 0, single.metrics[0].stderr or 0]
    assert found.stderr == pytest.approx(math.hypot(errors[0] * first, errors[1] * second) / (first + second))
    assert found.mean == pytest.approx((0.75 * first + second / 3) / (first + second))
    assert of_group.seeds == (1, 2, 3)


QUESTIONS = [
    {"thing": f"thing {number}", "colours": ["red", "green", "blue", "black"], "label": number % 4}
    for number in range(8)
]
"""Each place is right as often as the others."""


def always_says_a(instance: Instance) -> Response:
    return Response(key=instance.key, logprob=-1.0 - instance.key.request, is_greedy=False, token_logprobs=(-1.0,))


def knows(instance: Instance) -> Response:
    """Whatever label stands before it, the colour asked for is the likeliest."""
    label = (instance.continuation or "").strip()
    (shown,) = [line for line in instance.context.split("\n") if line.strip().startswith(f"{label}.")]
    is_right = ["red", "green", "blue", "black"].index(shown.split()[-1]) == instance.key.doc % 4
    return Response(key=instance.key, logprob=-1.0 if is_right else -9.0, is_greedy=is_right, token_logprobs=(-1.0,))


def asked_in_orders(folder: Path, answer: Any) -> Results:
    """The report of a model on four balanced choices in four orders."""
    path = write_task(folder, CHOICE, test=QUESTIONS)
    with data_sets_prepared_in(folder / "cache"):
        tasks: list[Task] = built(path.parent, prompt=PromptConfig(formulation="mcf", choice_orders=4))
    work = prepare(tasks, Style(), batch_tokens=512)
    scored = score(work, [answer(instance) for packet in work.packets for instance in packet.instances])
    rows = merge_rows([scored.rows], tasks)
    results = [aggregate(task, [row for row in rows if row.task == task.name], bootstrap=0) for task in tasks]
    return report(results, [], seed=1234)


def test_a_model_that_always_says_a_gives_itself_away(tmp_path: Path) -> None:
    results = asked_in_orders(tmp_path, always_says_a)
    assert [result.name for result in results.tasks] == [f"toy|0|order={order}" for order in range(4)]
    (family,) = results.over_orders
    acc = family.metrics[0]
    assert (family.name, family.orders, acc.metric, acc.mean, acc.consistent) == ("toy|0", 4, "acc", 0.25, 0.0)
    places = family.positions["none"]
    assert (places.picked, places.gold, places.flip_rate) == ((32, 0, 0, 0), (8, 8, 8, 8), 1.0)


def test_a_model_that_knows_is_right_in_every_order(tmp_path: Path) -> None:
    (family,) = asked_in_orders(tmp_path, knows).over_orders
    acc = family.metrics[0]
    assert (acc.mean, acc.worst, acc.spread, acc.consistent) == (1.0, 1.0, 0.0, 1.0)
    places = family.positions["none"]
    assert (places.picked, places.gold, places.flip_rate) == ((8, 8, 8, 8), (8, 8, 8, 8), 0.0)


def orders_of(per_order: Sequence[Sequence[Any]], **more: Any) -> list[TaskResult]:
    cells = [result("a", values, name=f"a|1|order={order}", **more) for order, values in enumerate(per_order)]
    own: Any = {"process_results": lambda row, outputs: {}}
    return [replace(cell, task=replace(cell.task, order=order, **own)) for order, cell in enumerate(cells)]


@pytest.mark.parametrize(
    ("metric", "values", "worst", "consistent"),
    [
        ("acc", SEEDS, 0.5, 0.5),
        ("perplexity", [[-1.0, -1.0], [-2.0, -2.0]], math.exp(2), None),
        ("acc", [[0.5, 1.0], [1.0, 1.0]], 0.75, None),
    ],
    ids=["right or wrong", "lower is better", "half right"],
)
def test_the_worst_order_is_named_and_what_is_right_in_all(
    metric: str, values: Any, worst: float, consistent: float | None
) -> None:
    (family,) = report(orders_of(values, metric=metric), [], seed=1).over_orders
    (found,) = family.metrics
    assert (found.worst, found.consistent) == (pytest.approx(worst), consistent)
    assert found.mean == pytest.approx(fmean(cell.metrics[0].value for cell in family.rows))
    assert family.positions == {}
