from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from hydra_eval.metrics.base import ChoiceOutcome
from hydra_eval.metrics.choice import (
    acc,
    acc_bytes,
    acc_mutual_info,
    acc_norm,
    exact_match,
    gold_and_logprobs,
    gold_and_pick,
    gold_and_probabilities,
)


def outcome(gold: Any, **changes: Any) -> ChoiceOutcome:
    """By sum the first choice is likeliest, by characters the second, by bytes the third (three letters, six bytes)."""
    fields: dict[str, Any] = {
        "choices": ["x", "word", "ééé"],
        "logprobs": [-1.0, -2.0, -2.4],
        "is_greedy": [True, False, False],
        "unconditional": [-0.5, -2.5, -2.0],
    }
    return ChoiceOutcome(gold=gold, **(fields | changes))


@pytest.mark.parametrize(
    ("score", "winner"),
    [(acc, 0), (acc_norm, 1), (acc_bytes, 2), (acc_mutual_info, 1)],
    ids=["acc", "acc_norm", "acc_bytes", "acc_mutual_info"],
)
@pytest.mark.parametrize("gold", [0, 1, 2, -100])
def test_each_accuracy_has_a_winner_of_its_own(score: Callable[..., float], winner: int, gold: int) -> None:
    assert score(outcome(gold)) == (1.0 if gold == winner else 0.0)


@pytest.mark.parametrize(
    ("gold", "expected"),
    [([0, 2], 1.0), ([1, 2], 0.0), ([-100, 0], 1.0), ([-100], 0.0)],
    ids=["among", "not_among", "partly_outside", "outside"],
)
def test_several_golds(gold: list[int], expected: float) -> None:
    assert acc(outcome(gold)) == expected


def test_of_equal_choices_the_first_wins() -> None:
    tied = outcome(1, logprobs=[-2.0, -1.0, -1.0])
    assert acc(tied) == 1.0
    assert gold_and_pick(tied) == (1, 1)


@pytest.mark.parametrize("score", [acc_norm, acc_bytes])
def test_an_empty_choice_never_wins(score: Callable[..., float]) -> None:
    assert score(outcome(0, choices=["", "word", "ééé"])) == 0.0


@pytest.mark.parametrize(("gold", "expected"), [(0, 1), (1, 0), ([1, 0], 1), ([1, 2], 0), (-100, 0), ([-100, 0], 1)])
def test_exact_match_is_greedy_decoding(gold: Any, expected: int) -> None:
    assert exact_match(outcome(gold)) == expected


def test_pairs() -> None:
    halves = outcome(1, logprobs=[math.log(0.2), math.log(0.1), math.log(0.1)])
    gold, probabilities = gold_and_probabilities(halves)
    assert (gold, probabilities) == (1, pytest.approx((0.5, 0.25, 0.25)))
    assert gold_and_logprobs(outcome([0, 1])) == ([0, 1], (-1.0, -2.0, -2.4))
    assert gold_and_pick(outcome("unused")) == ("unused", 0)
