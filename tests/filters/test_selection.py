from __future__ import annotations

from typing import Any

import pytest

from hydra_eval.errors import UserError
from hydra_eval.filters.selection import keep_all, majority_vote, take_first, take_first_k, take_last


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        pytest.param(["yes", "no"], "yes", id="replies"),
        pytest.param([(-1.5, True)], (-1.5, True), id="likelihood"),
        pytest.param([["NOUN", "VERB"]], ["NOUN", "VERB"], id="a_list_as_reply"),
        pytest.param("yes", "yes", id="text_chosen_before"),
        pytest.param(3, 3, id="number_chosen_before"),
    ],
)
def test_take_first(entry: Any, expected: Any) -> None:
    assert take_first()([entry], [{}]) == [expected]


@pytest.mark.parametrize(("entry", "expected"), [(["yes", "no"], "no"), ("yes", "yes")], ids=["replies", "value"])
def test_take_last(entry: Any, expected: Any) -> None:
    assert take_last()([entry], [{}]) == [expected]


@pytest.mark.parametrize(("entry", "expected"), [(("a", "b"), ["a", "b"]), ("a", ["a"])], ids=["replies", "value"])
def test_keep_all(entry: Any, expected: Any) -> None:
    assert keep_all()([entry], [{}]) == [expected]


def test_take_first_k() -> None:
    assert take_first_k(k=2)([["a", "b", "c"], ("d", "e")], [{}, {}]) == [["a", "b"], ["d", "e"]]


def test_take_first_k_wants_enough_replies() -> None:
    with pytest.raises(UserError, match=r"k=3, but a request has 2 replies.*generation.n=3"):
        take_first_k(k=3)([["a", "b", "c"], ["a", "b"]], [{}, {}])


@pytest.mark.parametrize("k", [0, -1, "2", 2.0, True])
def test_take_first_k_wants_a_count(k: Any) -> None:
    with pytest.raises(UserError, match=r"k=.* whole number"):
        take_first_k(k=k)


@pytest.mark.parametrize(
    ("replies", "expected"),
    [
        pytest.param(["1", "2", "2"], ["2"], id="most_frequent"),
        pytest.param(["2", "1", "1", "2"], ["2"], id="the_earlier_of_equals"),
    ],
)
def test_majority_vote(replies: list[str], expected: list[str]) -> None:
    assert majority_vote()([replies], [{}]) == [expected]
