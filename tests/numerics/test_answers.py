from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from hydra_eval.metrics.base import ChoiceOutcome
from hydra_eval.metrics.build import build_metrics
from hydra_eval.metrics.choice import acc, acc_bytes, acc_mutual_info, acc_norm
from hydra_eval.numerics.answers import LIKELIEST, Reading, readings
from hydra_eval.tasks.task import Task

from ..toys import docs_of, toy_task

METRICS = {"acc": acc, "acc_norm": acc_norm, "acc_bytes": acc_bytes, "acc_mutual_info": acc_mutual_info}


def task_with(*metrics: str) -> Task:
    listed = [{"metric": name} for name in metrics]
    built = build_metrics(listed, output_type="multiple_choice", has_process_results=False, where="toy")
    return toy_task(metrics=built)


def read(task: Task, choices: Sequence[str], sums: Sequence[float]) -> dict[str, Reading]:
    (doc,) = docs_of([{"thing": "x", "colours": list(choices), "label": 0}])
    return readings(task, doc, sums)


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize(
    ("choices", "sums"),
    [
        (["aa", "b", "éé"], [-2.0, -1.5, -3.9, -1.0, -2.0, -4.0]),
        (["aa", "bb", "cc"], [-1.0, -1.0, -1.0, -5.0, -5.0, -5.0]),
        (["", "bbb"], [-0.1, -9.0, -0.2, -9.9]),
    ],
    ids=["unlike", "all tie", "one empty"],
)
def test_the_pick_is_the_metrics_own(name: str, choices: list[str], sums: list[float]) -> None:
    count = len(choices)
    pick = read(task_with(name), choices, sums if name == "acc_mutual_info" else sums[:count])[name].pick
    outcome = ChoiceOutcome(
        gold=pick, choices=choices, logprobs=sums[:count], is_greedy=[False] * count, unconditional=sums[count:]
    )
    assert METRICS[name](outcome) == 1


@pytest.mark.parametrize(
    ("metric", "sums", "gap"),
    [
        ("acc", [-1.0, -1.25, -4.0], 0.25),
        ("acc", [-1.0, -1.0, -4.0], 0.0),
        ("acc", [-math.inf, -math.inf, -math.inf], 0.0),
        ("acc_norm", [-1.0, -3.0, -9.0], 0.5),  # -0.5, -0.75, -9: half a nat on "aa" makes up for a quarter
        ("acc_norm", [-4.0, -8.0, -1.5], 0.5),  # -2, -2, -1.5
    ],
)
def test_a_gap_is_what_one_sum_has_to_move_by(metric: str, sums: list[float], gap: float) -> None:
    assert read(task_with(metric), ["aa", "bbbb", "c"], sums)[metric].gap == pytest.approx(gap)


def test_a_metric_that_picks_nothing_leaves_the_likeliest() -> None:
    assert list(read(task_with("brier_score"), ["a", "b"], [-1.0, -2.0])) == [LIKELIEST]
    assert list(read(task_with("acc_norm", "acc"), ["a", "b"], [-1.0, -2.0])) == ["acc_norm", "acc"]


def test_a_single_request_is_no_choice() -> None:
    assert read(toy_task("loglikelihood"), [], [-1.0]) == {}


def test_requests_of_a_tasks_own_are_its_choices() -> None:
    own = toy_task("loglikelihood", own_requests=lambda doc, shots, style: [])
    assert read(own, [], [-3.0, -1.0])[LIKELIEST].pick == 1
