"""The vectors were made with lighteval's own sampler (0.13) on CPython."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hydra_eval.config.schema import FewshotConfig
from hydra_eval.errors import UserError
from hydra_eval.fewshot import Picks, pick_shots
from hydra_eval.fewshot.lighteval import balanced
from hydra_eval.fewshot.picks import leaks
from hydra_eval.records import Doc

from ..toys import docs_of, shot_plan, toy_task

ANSWERS = ["no"] * 5 + ["yes"] * 4 + ["maybe"] * 3
POOL = docs_of([{"n": n, "label": 0, "colours": [answer]} for n, answer in enumerate(ANSWERS)], split="train")
ORDER = (3, 1, 2, 4, 0, 5)
"""lighteval's order of six documents."""
DOCS = docs_of([{"n": 100 + n} for n in ORDER])


def picks(docs: tuple[Doc, ...] = DOCS, pool: tuple[Doc, ...] = POOL, **plan: Any) -> Picks:
    plan = {"compat": "lighteval", "on_leak": "allow", "seed": 0, "n": 3} | plan
    return pick_shots(toy_task(all_docs=docs, docs=docs, shots=shot_plan(pool, **plan)))


def numbers(found: Picks) -> list[list[int]]:
    return [[shot.row["n"] for shot in shots] for shots in found.shots]


@pytest.mark.parametrize(
    ("sampler", "n", "by_seed"),
    [
        ("sequential", 3, ["0 1 2", "3 4 5", "6 7 8", "9 10 11"]),
        ("sequential", 5, ["0 1 2 3 4", "5 6 7 8 9", "10 11 0 1 2", "3 4 5 6 7"]),
        ("random", 3, ["0 1 2", "7 11 0", "9 11 3", "1 7 10"]),
        ("random", 5, ["0 1 2 3 4", "7 11 0 8 5", "9 11 3 4 7", "1 7 10 0 6"]),
        ("balanced", 3, ["3 8 9", "1 5 10", "0 5 9", "1 6 10"]),
        ("balanced", 5, ["3 8 9 2 7", "1 5 10 0 7", "0 5 9 3 6", "1 6 10 4 8"]),
    ],
)
@pytest.mark.parametrize("seed", range(4))
def test_one_set_of_examples_for_all(sampler: str, n: int, by_seed: list[str], seed: int) -> None:
    expected = [int(number) for number in by_seed[seed].split()]
    assert numbers(picks(sampler=sampler, n=n, seed=seed)) == [expected] * 6


@pytest.mark.parametrize(
    ("sampler", "expected"),
    [
        ("random_sampling", ["3 11 2", "10 8 1", "0 11 1", "3 8 9", "8 3 11", "3 7 9"]),
        ("random_sampling_from_train", ["3 11 2", "11 1 8", "1 9 6", "0 11 1", "3 11 8", "9 0 8"]),
    ],
)
def test_examples_drawn_for_each(sampler: str, expected: list[str]) -> None:
    assert numbers(picks(sampler=sampler)) == [[int(number) for number in one.split()] for one in expected]


def test_lm_evals_default_means_balanced() -> None:
    assert numbers(picks(sampler="default")) == numbers(picks(sampler="balanced"))


def answered(answers: list[str]) -> tuple[Doc, ...]:
    return docs_of([{"n": n, "label": 0, "colours": [answer]} for n, answer in enumerate(answers)], split="train")


@pytest.mark.parametrize(
    ("pool", "n", "expected"),
    [
        (answered([f"ans{n:02}" for n in range(12)]), 3, [1, 9, 8]),
        (answered(["x", ""] * 3), 3, []),
    ],
    ids=["a class each", "an empty answer ends the draw"],
)
def test_balanced_classes(pool: tuple[Doc, ...], n: int, expected: list[int]) -> None:
    assert numbers(picks(pool=pool, n=n, sampler="balanced"))[0] == expected


def test_a_class_of_its_own_counts_before_the_answer() -> None:
    pool = tuple(replace(shot, row={**shot.row, "fewshot_sorting_class": "same"}) for shot in POOL)
    assert numbers(picks(pool=pool, sampler="balanced"))[0] != numbers(picks(sampler="balanced"))[0]


@pytest.mark.parametrize("sampler", ["balanced", "random", "sequential"])
def test_a_small_pool_gives_fewer_examples(sampler: str) -> None:
    assert {len(shots) for shots in picks(pool=POOL[:3], n=5, sampler=sampler).shots} == {3}


@pytest.mark.parametrize(("sampler", "drawn"), [("random_sampling", 6), ("random_sampling_from_train", 5)])
def test_a_small_pool_cannot_be_sampled(sampler: str, drawn: int) -> None:
    with pytest.raises(UserError, match=f"{drawn} examples are drawn for each document, but the pool has 4 rows"):
        picks(pool=POOL[:4], n=5, sampler=sampler)


def test_an_unknown_strategy_names_the_nearest() -> None:
    with pytest.raises(UserError, match=r"unknown few_shots_select 'balancd'\. Did you mean 'balanced'"):
        picks(sampler="balancd")


EIGHT = docs_of([{"n": n, "label": 0, "colours": [ANSWERS[n]]} for n in range(8)])
"""Documents that are their own pool, in the data set's order."""


def leaking(found: Picks) -> int:
    pairs = zip(found.shots, EIGHT, strict=True)
    return sum(leaks(shot, doc) for shots, doc in pairs for shot in shots)


@pytest.mark.parametrize("sampler", ["balanced", "random", "sequential"])
def test_lighteval_shows_tested_rows_to_themselves(sampler: str) -> None:
    assert leaking(picks(docs=EIGHT, pool=EIGHT, sampler=sampler)) == 3


@pytest.mark.parametrize(
    "sampler", ["balanced", "random", "sequential", "random_sampling", "random_sampling_from_train"]
)
def test_leaks_are_replaced_and_nothing_else(sampler: str) -> None:
    allowed = picks(docs=EIGHT, pool=EIGHT, sampler=sampler)
    found = picks(docs=EIGHT, pool=EIGHT, sampler=sampler, on_leak="replace")
    assert leaking(found) == 0
    assert found.replaced == leaking(allowed)
    for doc, before, after in zip(EIGHT, allowed.shots, found.shots, strict=True):
        pairs = zip(before, after, strict=True)
        assert all(one is other for one, other in pairs if not leaks(one, doc))
        assert len({shot.index for shot in after}) == 3


def test_where_no_other_row_is_left_the_example_is_missing() -> None:
    found = picks(docs=EIGHT[:3], pool=EIGHT[:3], sampler="sequential", on_leak="replace")
    assert [len(shots) for shots in found.shots] == [2, 2, 2]


def test_no_examples_no_draw() -> None:
    assert set(picks(n=0, sampler="random_sampling", pool=()).shots) == {()}


def test_balanced_draws_without_touching_the_global_generator() -> None:
    import random

    state = random.getstate()
    balanced(POOL, 4, 0, lambda shot: str(shot.row["colours"][0]))
    assert random.getstate() == state


def test_leaks_are_allowed_under_lm_evals_rules_too() -> None:
    found = picks(docs=EIGHT, pool=EIGHT, sampler="first_n", compat="lm_eval")
    assert (leaking(found), found.replaced) == (3, 0)


@pytest.mark.parametrize(("field", "value"), [("compat", "helm"), ("on_leak", "keep")])
def test_options_that_are_not_there(field: str, value: str) -> None:
    with pytest.raises(UserError, match=f"fewshot.{field}='{value}': must be"):
        FewshotConfig(**{field: value})
