"""A bound that does not hold must be said not to hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from benchmarks.peers.bounds import Verdict, best_of, of_costs, steps
from benchmarks.peers.comparing import Agreement, leaks, of_answers
from benchmarks.peers.processes import OUT, Outcome

from .test_processes import FIGURES, ORDER


def outcome(batch: int | None = None, **figures: Any) -> Outcome:
    return Outcome(order=replace(ORDER, batch=batch), seconds=9.0, figures=replace(FIGURES, **figures))


def agreement(**counts: int) -> Agreement:
    return Agreement(docs=2, skipped=0, reason="", worst=1e-5, counts=counts, first=())


def held(verdicts: Any) -> list[bool]:
    return [one.holds for one in verdicts]


NONE = Outcome(order=replace(ORDER, batch=8), seconds=9.0, failure=OUT)


def test_the_best_batch_size_is_the_fastest_that_fits() -> None:
    fast = outcome(4, request_s=3.0)
    assert best_of([outcome(1, request_s=5.0), fast, NONE]) is fast
    assert best_of([NONE]) is None


@pytest.mark.parametrize(
    ("figures", "expected"),
    [
        pytest.param({}, [True, True, True], id="all hold"),
        pytest.param({"request_s": 2.1}, [False, True, True], id="too slow"),
        pytest.param({"request_peak": 100}, [True, False, True], id="too large"),
        pytest.param({"threads": 2}, [True, True, False], id="more threads"),
    ],
)
def test_costs(figures: Mapping[str, Any], expected: list[bool]) -> None:
    peers = [outcome(1, request_s=10.0, request_peak=100), outcome(2, request_s=20.0, request_peak=50), NONE]
    assert held(of_costs(outcome(**figures), peers, speedup=5)) == expected


def test_a_failure_of_ours_is_a_bound_that_does_not_hold() -> None:
    failed = Outcome(order=ORDER, seconds=1.0, failure="exit code 1\nValueError: x")
    assert list(of_costs(failed, [outcome(1)], speedup=5)) == [
        Verdict(bound="hydra-eval runs", holds=False, said="ValueError: x")
    ]


@pytest.mark.parametrize(
    ("row_steps", "alone", "expected"),
    [
        pytest.param(102, None, True, id="at the bound"),
        pytest.param(103, None, False, id="above it"),
        pytest.param(102, 90, False, id="above the peer's count"),
    ],
)
def test_steps_are_held_against_the_tokens_of_replies(row_steps: int, alone: int | None, expected: bool) -> None:
    # Two filters show the same replies: each document counts once.
    rows = [{"doc_id": doc, "output_tokens": [50]} for doc in (0, 0, 1, 1)]
    assert steps(row_steps, rows, alone).holds is expected


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param({1: agreement(), 8: agreement(text=3)}, [True, True], id="padding of a larger batch is forgiven"),
        pytest.param({1: agreement(prompt=1), 8: agreement()}, [False, True], id="other prompts"),
        pytest.param({1: agreement(choice=1)}, [True, False], id="another choice"),
    ],
)
def test_answers(found: Mapping[int, Agreement], expected: list[bool]) -> None:
    assert held(of_answers(found, answers="texts")) == expected


def test_only_as_many_prompts_may_differ_as_examples_were_replaced() -> None:
    theirs = [{"doc_id": 0, "prompt_hash": "a"}, {"doc_id": 1, "prompt_hash": "b"}]
    ours = [{"doc_id": 0, "prompt_hash": "a"}, {"doc_id": 1, "prompt_hash": "c"}]
    assert leaks(theirs, ours, replaced=1) == {1}
    assert leaks(theirs, ours, replaced=0) == set()
