"""The vectors were made with lighteval's own sampler (0.13) on CPython."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hydra_eval.config.schema import FewshotConfig
from hydra_eval.errors import UserError
from hydra_eval.fewshot import Picks
from hydra_eval.records import Doc

from ..toys import docs_of
from .builders import answered, numbered, picked, rows_of

ANSWERS = ["no"] * 5 + ["yes"] * 4 + ["maybe"] * 3
POOL = answered(ANSWERS)
IN_FILE_ORDER = docs_of([{"n": 100 + n} for n in range(6)])
ORDER = (3, 1, 2, 4, 0, 5)
"""lighteval's order of six documents."""
DOCS = docs_of([{"n": 100 + n} for n in ORDER])
LISTED = ("balanced", "random", "sequential")
SAMPLED = ("random_sampling", "random_sampling_from_train")


def picks(docs: tuple[Doc, ...] = DOCS, pool: tuple[Doc, ...] = POOL, **plan: Any) -> Picks:
    plan = {"compat": "lighteval", "on_leak": "allow", "docs_are_shuffled": True, "seed": 0, "n": 3} | plan
    return picked(docs, pool=pool, **plan)


def ways(name: str) -> dict[str, dict[str, Any]]:
    """How a strategy may be asked for."""
    return {"by name": {"strategy": name}, "by the task": {"sampler": name}}


def numbers(text: str) -> list[int]:
    return [int(number) for number in text.split()]


ONE_SET = [
    ("sequential", 3, ["0 1 2", "3 4 5", "6 7 8", "9 10 11"]),
    ("sequential", 5, ["0 1 2 3 4", "5 6 7 8 9", "10 11 0 1 2", "3 4 5 6 7"]),
    ("random", 3, ["0 1 2", "7 11 0", "9 11 3", "1 7 10"]),
    ("random", 5, ["0 1 2 3 4", "7 11 0 8 5", "9 11 3 4 7", "1 7 10 0 6"]),
    ("balanced", 3, ["3 8 9", "1 5 10", "0 5 9", "1 6 10"]),
    ("balanced", 5, ["3 8 9 2 7", "1 5 10 0 7", "0 5 9 3 6", "1 6 10 4 8"]),
]
FOR_EACH = [
    ("random_sampling", ["3 11 2", "10 8 1", "0 11 1", "3 8 9", "8 3 11", "3 7 9"]),
    ("random_sampling_from_train", ["3 11 2", "11 1 8", "1 9 6", "0 11 1", "3 11 8", "9 0 8"]),
]
"""In lighteval's order of the documents."""


@pytest.mark.parametrize("way", ["by name", "by the task"])
@pytest.mark.parametrize(("strategy", "n", "by_seed"), ONE_SET)
@pytest.mark.parametrize("seed", range(4))
def test_one_set_of_examples_for_all(way: str, strategy: str, n: int, by_seed: list[str], seed: int) -> None:
    assert rows_of(picks(**ways(strategy)[way], n=n, seed=seed)) == [numbers(by_seed[seed])] * 6


@pytest.mark.parametrize(("strategy", "n", "by_seed"), ONE_SET)
@pytest.mark.parametrize("seed", range(4))
def test_natively_the_same_but_that_seed_0_shuffles(strategy: str, n: int, by_seed: list[str], seed: int) -> None:
    found = rows_of(picks(strategy=strategy, compat="lm_eval", on_leak="replace", n=n, seed=seed))
    is_same = found == [numbers(by_seed[seed])] * 6
    assert is_same == ((strategy, seed) != ("random", 0))


@pytest.mark.parametrize("way", ["by name", "by the task"])
@pytest.mark.parametrize(("strategy", "expected"), FOR_EACH)
def test_examples_drawn_for_each(way: str, strategy: str, expected: list[str]) -> None:
    assert rows_of(picks(**ways(strategy)[way])) == [numbers(one) for one in expected]


@pytest.mark.parametrize("compat", ["lighteval", "lm_eval"])
@pytest.mark.parametrize(("strategy", "expected"), FOR_EACH)
def test_documents_in_file_order_get_the_draws_of_lightevals_order(
    compat: str, strategy: str, expected: list[str]
) -> None:
    found = picks(IN_FILE_ORDER, strategy=strategy, compat=compat, docs_are_shuffled=False)
    by_document = dict(zip(ORDER, map(numbers, expected), strict=True))
    assert rows_of(found) == [by_document[n] for n in range(6)]


@pytest.mark.parametrize("strategy", SAMPLED)
def test_ten_documents_stand_in_lightevals_order(strategy: str) -> None:
    order = (7, 3, 2, 8, 5, 6, 9, 4, 0, 1)
    shuffled = rows_of(picks(numbered(order), strategy=strategy))
    in_file_order = rows_of(picks(numbered(range(10)), strategy=strategy, docs_are_shuffled=False))
    assert [in_file_order[n] for n in order] == shuffled


@pytest.mark.parametrize("compat", ["lighteval", "lm_eval"])
@pytest.mark.parametrize("strategy", SAMPLED)
def test_a_limit_changes_no_draw(compat: str, strategy: str) -> None:
    whole, two = (rows_of(picks(strategy=strategy, compat=compat, limit=limit)) for limit in (None, 2))
    assert two[:2] == whole[:2]


def test_lm_evals_default_means_balanced() -> None:
    assert rows_of(picks(sampler="default")) == rows_of(picks(sampler="balanced"))


@pytest.mark.parametrize(
    ("pool", "n", "expected"),
    [
        (answered([f"ans{n:02}" for n in range(12)]), 3, [1, 9, 8]),
        (answered(["x", ""] * 3), 3, []),
    ],
    ids=["a class each", "an empty answer ends the draw"],
)
def test_balanced_classes(pool: tuple[Doc, ...], n: int, expected: list[int]) -> None:
    assert rows_of(picks(pool=pool, n=n, sampler="balanced"))[0] == expected


def test_a_class_of_its_own_counts_before_the_answer() -> None:
    pool = tuple(replace(shot, row={**shot.row, "fewshot_sorting_class": "same"}) for shot in POOL)
    assert rows_of(picks(pool=pool, sampler="balanced"))[0] != rows_of(picks(sampler="balanced"))[0]


@pytest.mark.parametrize("way", ["by name", "by the task"])
@pytest.mark.parametrize("strategy", LISTED)
def test_a_small_pool_gives_fewer_examples_which_are_counted(way: str, strategy: str) -> None:
    found = picks(pool=POOL[:3], n=5, **ways(strategy)[way])
    assert ({len(shots) for shots in found.shots}, found.short) == ({3}, 6)


@pytest.mark.parametrize(("strategy", "drawn"), [("random_sampling", 6), ("random_sampling_from_train", 5)])
def test_a_small_pool_cannot_be_sampled(strategy: str, drawn: int) -> None:
    with pytest.raises(UserError, match=f"{drawn} examples are drawn for each document, but the pool has 4 rows"):
        picks(pool=POOL[:4], n=5, strategy=strategy)
    found = picks(pool=POOL[:4], n=5, strategy=strategy, shortfall="allow")
    assert ({len(shots) for shots in found.shots}, found.short) == ({4}, 6)


def test_an_unknown_strategy_names_the_nearest() -> None:
    with pytest.raises(UserError, match=r"unknown few_shots_select 'balancd'\. Did you mean 'balanced'"):
        picks(sampler="balancd")


EIGHT = answered(ANSWERS[:8], split="test")
"""Documents that are their own pool, in the data set's order."""


def leaking(found: Picks) -> int:
    return sum(doc in shots for doc, shots in zip(EIGHT, found.shots, strict=True))


@pytest.mark.parametrize("strategy", LISTED)
def test_lighteval_shows_tested_rows_to_themselves(strategy: str) -> None:
    found = picks(docs=EIGHT, pool=EIGHT, strategy=strategy)
    assert (leaking(found), found.replaced) == (3, 0)


def test_a_sample_leaks_more_rarely() -> None:
    in_order = tuple(replace(EIGHT[n], index=place, position=n) for place, n in enumerate((3, 4, 6, 7, 2, 5, 0, 1)))
    found = picks(docs=in_order, pool=EIGHT, strategy="random_sampling")
    pairs = zip(in_order, found.shots, strict=True)
    assert sum(doc.origin in [shot.origin for shot in shots] for doc, shots in pairs) == 1


@pytest.mark.parametrize("strategy", [*LISTED, *SAMPLED])
def test_leaks_are_replaced_and_nothing_else(strategy: str) -> None:
    allowed = picks(docs=EIGHT, pool=EIGHT, strategy=strategy)
    found = picks(docs=EIGHT, pool=EIGHT, strategy=strategy, on_leak="replace")
    assert leaking(found) == 0
    assert found.replaced == leaking(allowed)
    for doc, before, after in zip(EIGHT, allowed.shots, found.shots, strict=True):
        assert all(one is other for one, other in zip(before, after, strict=True) if one is not doc)
        assert len({shot.index for shot in after}) == 3


def test_where_no_other_row_is_left_the_example_is_missing() -> None:
    found = picks(docs=EIGHT[:3], pool=EIGHT[:3], sampler="sequential", on_leak="replace")
    assert ([len(shots) for shots in found.shots], found.short) == ([2, 2, 2], 3)


def test_no_examples_no_draw() -> None:
    assert set(picks(n=0, sampler="random_sampling", pool=()).shots) == {()}


def test_leaks_are_allowed_under_lm_evals_rules_too() -> None:
    found = picks(docs=EIGHT, pool=EIGHT, sampler="first_n", compat="lm_eval")
    assert (leaking(found), found.replaced) == (3, 0)


@pytest.mark.parametrize(("field", "value"), [("compat", "helm"), ("on_leak", "keep")])
def test_options_that_are_not_there(field: str, value: str) -> None:
    with pytest.raises(UserError, match=f"fewshot.{field}='{value}': must be"):
        FewshotConfig(**{field: value})
