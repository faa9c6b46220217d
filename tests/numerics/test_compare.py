from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from hydra_eval.numerics.compare import Checked, Pick, Twice, compare
from hydra_eval.records import InstanceKey, RequestKind, Response

from ..toys import toy_task

TASK = toy_task()
KEY = InstanceKey("toy", 0, 0, 0)


def scored(run: Sequence[float], alone: Sequence[float], *, greedy: tuple[bool, bool] = (False, False)) -> Checked:
    """The toy task's first document, whose two choices have these sums."""
    pairs = zip(run, alone, strict=True)
    twice = [
        Twice(*(Response(key=KEY, logprob=value, is_greedy=first) for value, first in zip(pair, greedy, strict=True)))
        for pair in pairs
    ]
    return compare(TASK, TASK.docs[0], RequestKind.LOGLIKELIHOOD, twice, list)


def replied(run: Response, alone: Response) -> Checked:
    letters = compare(
        toy_task("generate_until"),
        TASK.docs[0],
        RequestKind.GENERATE,
        [Twice(run, alone)],
        lambda text: [*map(ord, text)],
    )
    assert letters.requests == 1
    return letters


@pytest.mark.parametrize(
    ("run", "alone", "changed", "gap"),
    [
        ([-1.0, -2.0], [-1.5, -2.0], False, 0.5),
        ([-1.0, -1.001], [-1.002, -1.001], True, 0.001),
        ([-1.0, -1.0], [-1.0, -1.0], False, 0.0),
    ],
    ids=["the same", "turned over", "planted tie"],
)
def test_a_pick_is_compared(run: list[float], alone: list[float], changed: bool, gap: float) -> None:
    found = scored(run, alone)
    assert found.picks["acc"] == Pick(changed, pytest.approx(gap))
    assert found.changed is changed
    assert found.near_tie(0.01) is (gap < 0.01)


@pytest.mark.parametrize(
    ("run", "alone", "drift"),
    [(-1.0, -1.25, 0.25), (-math.inf, -math.inf, 0.0), (-1.0, -math.inf, math.inf), (math.nan, -1.0, math.inf)],
    ids=["number", "impossible both times", "impossible once", "no number"],
)
def test_a_drift_is_never_negative_nor_no_number(run: float, alone: float, drift: float) -> None:
    assert scored([run, -9.0], [alone, -9.0]).drifts == (drift, 0.0)


def test_first_choices_are_compared() -> None:
    assert scored([-1.0, -2.0], [-1.0, -2.0], greedy=(True, False)).greedy_changed == 2


@pytest.mark.parametrize(
    ("run", "alone", "places"),
    [("a cat", "a cat", ()), ("a cat", "a cot", (4,)), ("a cat", "a ca", (5,)), ("", "a", (1,))],
    ids=["the same", "in the middle", "at the end", "nothing"],
)
def test_a_reply_is_compared_token_by_token(run: str, alone: str, places: tuple[int, ...]) -> None:
    found = replied(Response(key=KEY, text=run), Response(key=KEY, text=alone))
    assert (found.differs_at, found.changed) == (places, bool(places))


def test_reasoning_is_part_of_a_reply() -> None:
    run, alone = (Response(key=KEY, reasoning=thought, text="4") for thought in ("2+2=", "2*2="))
    assert replied(run, alone).differs_at == (2,)


def test_whole_texts_have_no_pick() -> None:
    pair = Twice(Response(key=KEY, logprob=-40.0), Response(key=KEY, logprob=-40.5))
    found = compare(toy_task("loglikelihood_rolling"), TASK.docs[0], RequestKind.ROLLING, [pair], list)
    assert (found.drifts, found.picks, found.greedy_changed) == ((0.5,), {}, 0)
