from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hydra_eval.errors import UserError
from hydra_eval.fewshot import Picks
from hydra_eval.tasks.task import PickFunction, Row

from ..toys import docs_of
from .builders import numbered, picked, rows_of

DOCS = numbered(range(6))


def picks(function: PickFunction, **plan: Any) -> Picks:
    return picked(DOCS, **{"strategy": "mine:best", "function": function, "pool": DOCS, "n": 2, "seed": 7} | plan)


def larger(pool: list[Row], doc: Row, n: int, seed: int) -> list[int]:
    return [place for place, row in enumerate(pool) if row["n"] > doc["n"]][:n]


def test_it_sees_the_pool_without_the_document() -> None:
    assert rows_of(picks(larger, shortfall="allow"))[2:] == [[3, 4], [4, 5], [5], []]


def test_it_is_told_number_and_seed() -> None:
    found = picks(lambda pool, doc, n, seed: [n - 2, seed - 3])
    assert rows_of(found)[0] == [1, 5]


def test_twins_are_not_in_its_pool() -> None:
    pool = docs_of([{"n": n, "id": place} for place, n in enumerate((0, 0, 1, 2))], split="train")
    sizes = []
    picks(lambda pool, doc, n, seed: sizes.append(len(pool)) or [0, 1], pool=pool)
    assert sizes == [2, 3, 3, 4, 4, 4]


def test_it_sees_every_row_where_leaks_are_allowed() -> None:
    assert rows_of(picks(lambda pool, doc, n, seed: [doc["n"], (doc["n"] + 1) % 6], on_leak="allow"))[3] == [3, 4]


def test_what_it_does_to_its_document_stays_its_own() -> None:
    docs = docs_of([{"n": place, "parts": [place]} for place in range(4)])
    seen = []

    def grow(pool: list[Any], doc: Any, n: int, seed: int) -> list[int]:
        seen.append(list(doc["parts"]))
        doc["parts"].append(99)
        pool.pop()
        return [0, 1]

    plan = {"strategy": "mine:best", "function": grow, "pool": numbered(range(5, 8), split="train"), "n": 2, "seed": 7}
    picked(docs, **plan)
    picked(docs, **plan)
    assert seen == [[0], [1], [2], [3]] * 2
    assert [doc.row["parts"] for doc in docs] == [[0], [1], [2], [3]]


@pytest.mark.parametrize("change", [lambda row: row.clear(), lambda row: row["parts"].append(1)], ids=["row", "in it"])
def test_a_function_that_changes_its_pool_is_refused(change: Any) -> None:
    pool = docs_of([{"n": place, "parts": []} for place in range(10, 14)], split="train")
    with pytest.raises(UserError, match=r"fewshot\.strategy=mine:best changes the rows of its pool; it must copy"):
        picks(lambda pool, doc, n, seed: change(pool[0]) or [0, 1], pool=pool)
    assert pool[0].row == {"n": 10, "parts": []}


class Nothing:
    """Takes nothing."""


@pytest.mark.parametrize(
    "function",
    [lambda pool, doc: [0, 1], lambda *, pool, doc, n, seed: [0, 1], Nothing],
    ids=["two", "by name", "a class"],
)
def test_a_function_that_takes_something_else_is_refused(function: Any) -> None:
    with pytest.raises(UserError, match=r"fewshot.strategy=mine:best must take \(pool, doc, n, seed\)"):
        picks(function)


def test_an_array_of_numpy_is_a_list() -> None:
    assert rows_of(picks(lambda pool, doc, n, seed: np.arange(2)))[5] == [0, 1]


def test_numbers_of_numpy_are_numbers() -> None:
    assert rows_of(picks(lambda pool, doc, n, seed: list(np.arange(2))))[5] == [0, 1]


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        (None, "must give a list of whole numbers"),
        ("01", "must give a list of whole numbers"),
        ([True, False], "must give a list of whole numbers"),
        ([0.0, 1.0], "must give a list of whole numbers"),
        ([0, 5], "must give places, from 0 on, in the pool it was given, which has 5 rows"),
        ([0, -1], "must give places, from 0 on, in the pool"),
        ([1, 1], "must give each row once"),
        ([0, 1, 2], "must give at most 2 rows"),
    ],
    ids=["nothing", "text", "truth values", "floats", "beyond", "negative", "twice", "too many"],
)
def test_what_it_gives_is_checked(given: Any, wrong: str) -> None:
    with pytest.raises(UserError, match=f"fewshot.strategy=mine:best {wrong}.*, but gave .*document 0"):
        picks(lambda pool, doc, n, seed: given)


def test_too_few_are_a_shortfall() -> None:
    with pytest.raises(UserError, match="but only 1 row that the function picks is in the pool"):
        picks(lambda pool, doc, n, seed: [0])


def test_one_row_is_no_plural() -> None:
    with pytest.raises(UserError, match=r"must give at most 1 row, but"):
        picks(lambda pool, doc, n, seed: [0, 1], n=1)
    with pytest.raises(UserError, match=": 1 example is asked for, but only 0 rows that the function picks are in"):
        picks(lambda pool, doc, n, seed: [], n=1)


def test_a_pool_without_a_row_has_no_places() -> None:
    with pytest.raises(UserError, match="in the pool it was given, which has 0 rows"):
        picks(lambda pool, doc, n, seed: [0], pool=(), n=1)


def test_its_own_error_says_where_it_happened() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        picks(lambda pool, doc, n, seed: [1 // 0])
    assert caught.value.__notes__ == ["in fewshot.strategy=mine:best", "in task 'toy', document 0"]
