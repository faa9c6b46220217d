from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydra_eval.errors import UserError
from hydra_eval.metrics.base import GenerationOutcome
from hydra_eval.metrics.samples import average, g_pass_at, majority, mg_pass_at, pass_at, probability
from hydra_eval.metrics.text import exact_match


def outcome(*replies: Any) -> GenerationOutcome:
    return GenerationOutcome(prediction=replies[0], gold="7", replies=replies)


def right(count: int, *, of: int) -> GenerationOutcome:
    """The right replies come last, so that what looks at the first alone is seen."""
    return outcome(*["x"] * (of - count), *["7"] * count)


@pytest.mark.parametrize(("c", "k", "expected"), [(1, 1, 0.25), (1, 4, 1.0), (2, 2, 5 / 6), (0, 4, 0.0), (3, 2, 1.0)])
def test_pass_at_k_of_four(c: int, k: int, expected: float) -> None:
    assert pass_at(right(c, of=4), score=exact_match, k=k) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize(
    ("metric", "options", "expected"),
    [
        pytest.param(average, {}, 2 / 3, id="average"),
        pytest.param(average, {"n": 2}, 1 / 2, id="average_of_the_first"),
        pytest.param(majority, {}, 1.0, id="majority"),
        pytest.param(majority, {"n": 2}, 0.0, id="the_earlier_of_equals"),
        pytest.param(pass_at, {"k": 1, "n": 1}, 0.0, id="pass_at_of_the_first"),
        pytest.param(pass_at, {"k": 2}, 1.0, id="pass_at"),
        pytest.param(mg_pass_at, {"k": 2}, 1 / 3, id="mg_pass_at"),
    ],
)
def test_of_one_wrong_and_two_right(metric: Callable[..., float], options: dict[str, int], expected: float) -> None:
    assert metric(outcome("x", "7", "7"), score=exact_match, **options) == pytest.approx(expected)


def test_thresholds_ask_for_a_share_of_the_k() -> None:
    """Two of three right: of two drawn, one at least is always right, both once in three times."""
    thresholds = [0.0, 0.5, 0.51, 1]
    found = g_pass_at(right(2, of=3), score=exact_match, k=2, thresholds=thresholds)
    assert found == pytest.approx(
        {"threshold=0.0": 1.0, "threshold=0.5": 1.0, "threshold=0.51": 1 / 3, "threshold=1": 1 / 3}
    )


def test_a_share_that_is_a_whole_number_of_replies_is_not_rounded_up() -> None:
    found = g_pass_at(right(7, of=25), score=exact_match, k=25, thresholds=[0.28, 0.29])
    assert found == {"threshold=0.28": 1.0, "threshold=0.29": 0.0}


def test_one_threshold_needs_no_list() -> None:
    assert g_pass_at(right(1, of=1), score=exact_match, k=1, thresholds=1.0) == {"threshold=1.0": 1.0}


@given(st.data())
def test_probability_is_the_share_of_all_draws(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 7))
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    least = data.draw(st.integers(0, k))
    draws = list(combinations([1] * c + [0] * (n - c), k))
    share = sum(sum(draw) >= least for draw in draws) / len(draws)
    assert probability(least, right=c, k=k, n=n) == pytest.approx(share)


@given(c=st.integers(0, 200), k=st.integers(1, 200))
def test_pass_at_k_is_the_published_estimator(c: int, k: int) -> None:
    published = 1.0 if 200 - c < k else 1.0 - math.prod(1.0 - k / i for i in range(200 - c + 1, 201))
    assert probability(1, right=c, k=k, n=200) == pytest.approx(published, abs=1e-12)


@given(n=st.integers(2, 30), data=st.data())
def test_mean_over_thresholds_by_its_formula(n: int, data: st.DataObject) -> None:
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(2, n))
    shares = [i / k for i in range(math.ceil(k / 2) + 1, k + 1)]
    found = g_pass_at(right(c, of=n), score=exact_match, k=k, thresholds=shares)
    assert mg_pass_at(right(c, of=n), score=exact_match, k=k) == pytest.approx(2 / k * sum(found.values()))


def test_a_reply_that_is_half_right_has_not_passed() -> None:
    def halves(seen: GenerationOutcome) -> float:
        return 0.5 if seen.prediction == "x" else 1.0

    assert pass_at(outcome("x", "x", "7"), score=halves, k=1) == pytest.approx(1 / 3)
    assert average(outcome("x", "x", "7"), score=halves) == pytest.approx(2 / 3)


def test_lists_vote_too() -> None:
    votes = outcome(["a"], ["b"], ["b"])
    assert majority(votes, score=lambda seen: float(seen.prediction == ["b"])) == 1.0


@pytest.mark.parametrize("value", [None, ["7", "x"], {"em": 1.0}], ids=["nothing", "pair", "mapping"])
def test_a_score_that_gives_no_number(value: Any) -> None:
    with pytest.raises(UserError, match="needs a number for each"):
        average(outcome("7"), score=lambda seen: value)
