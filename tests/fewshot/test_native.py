from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hydra_eval.errors import UserError
from hydra_eval.fewshot import STRATEGIES

from .builders import numbered, picked, rows_of

DOCS = numbered(range(20))
TRAIN = numbered(range(100, 140), split="train")


def test_first_n_takes_the_first_rows_in_order() -> None:
    assert rows_of(picked(DOCS, strategy="first_n", pool=TRAIN, n=3)) == [[100, 101, 102]] * 20


def test_first_n_out_of_the_documents_skips_the_document() -> None:
    picks = picked(DOCS, strategy="first_n", pool=DOCS, n=3)
    assert rows_of(picks)[:4] == [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]
    assert picks.replaced == 3


def test_random_shows_every_document_the_same_rows_in_the_same_order() -> None:
    rows = rows_of(picked(DOCS, strategy="random", pool=TRAIN, n=5))
    assert rows == [rows[0]] * 20
    assert rows[0] != sorted(rows[0]) and len(set(rows[0])) == 5


def test_more_random_shots_begin_with_the_fewer() -> None:
    few, many = (rows_of(picked(DOCS, strategy="random", pool=TRAIN, n=n))[0] for n in (3, 10))
    assert many[:3] == few


@pytest.mark.parametrize("strategy", ["task", "random"])
def test_seeds_0_1_and_2_differ_and_repeat(strategy: str) -> None:
    seeded = [rows_of(picked(DOCS, strategy=strategy, pool=TRAIN, n=5, seed=seed)) for seed in (0, 1, 2)]
    again = [rows_of(picked(DOCS, strategy=strategy, pool=TRAIN, n=5, seed=seed)) for seed in (0, 1, 2)]
    assert seeded == again
    assert seeded[0] != seeded[1] != seeded[2] != seeded[0]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_limit_changes_no_prompt(strategy: str) -> None:
    whole, limited = (picked(DOCS, limit=limit, strategy=strategy, pool=DOCS, n=4) for limit in (None, 3))
    assert rows_of(limited)[:3] == rows_of(whole)[:3]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_task_alone_and_among_other_counts_of_shots_gets_the_same(strategy: str) -> None:
    alone, among = (picked(DOCS, name=name, strategy=strategy, pool=DOCS, n=4) for name in ("toy", "toy|4"))
    assert rows_of(among) == rows_of(alone)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_global_generator_is_left_alone(strategy: str) -> None:
    random.seed(5)
    state = random.getstate()
    first = rows_of(picked(DOCS, strategy=strategy, pool=DOCS, n=4))
    assert random.getstate() == state
    random.seed(6)
    assert rows_of(picked(DOCS, strategy=strategy, pool=DOCS, n=4)) == first


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_no_shots_ask_for_no_pool(strategy: str) -> None:
    assert picked(DOCS, strategy=strategy, pool=(), n=0).shots == ((),) * 20


@settings(max_examples=200, deadline=None)
@given(
    strategy=st.sampled_from(sorted(STRATEGIES)),
    sampler=st.sampled_from(["default", "first_n"]),
    excludes=st.booleans(),
    numbers=st.lists(st.integers(0, 6), min_size=1, max_size=12),
    n=st.integers(1, 4),
    seed=st.integers(0, 3),
)
def test_never_the_document_itself_and_always_n(
    strategy: str, sampler: str, excludes: bool, numbers: list[int], n: int, seed: int
) -> None:
    docs = numbered(numbers)
    fewest = min(sum(other != number for other in numbers) for number in numbers)
    plan = {"strategy": strategy, "pool": docs, "n": n, "seed": seed, "sampler": sampler, "excludes_doc": excludes}
    if fewest < n:
        with pytest.raises(UserError, match="examples are asked for, but"):
            picked(docs, **plan)
        return
    for doc, shots in zip(docs, picked(docs, **plan).shots, strict=True):
        assert len({shot.index for shot in shots}) == len(shots) == n
        assert all(shot.row != doc.row for shot in shots)


def test_the_same_row_in_another_split_is_no_example() -> None:
    pool = numbered([3, 4, 5], split="train")
    picks = picked(numbered([3, 9]), strategy="first_n", pool=pool, n=2)
    assert (rows_of(picks), picks.replaced) == ([[4, 5], [3, 4]], 1)


def test_the_same_place_in_another_split_is_an_example() -> None:
    pool = numbered([3, 4], split="train")
    assert rows_of(picked(numbered([8, 9]), strategy="first_n", pool=pool, n=1)) == [[3], [3]]


def test_the_same_place_in_the_same_split_is_the_document_even_with_another_row() -> None:
    pool = numbered([3, 4, 5])  # as a hook of the examples' own may leave it
    assert rows_of(picked(numbered([8, 9]), strategy="first_n", pool=pool, n=2)) == [[4, 5], [3, 5]]


def test_an_unknown_strategy_is_named() -> None:
    with pytest.raises(
        UserError, match=r"fewshot.strategy: unknown few-shot strategy 'randm'. Did you mean 'random'\?"
    ):
        picked(DOCS, strategy="randm", pool=TRAIN, n=1)


def test_a_pool_without_a_split_is_called_samples() -> None:
    with pytest.raises(UserError, match=r"but the pool \('samples'\) has 2 rows"):
        picked(DOCS, pool=TRAIN[:2], pool_split=None, n=3)
