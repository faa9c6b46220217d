from __future__ import annotations

import pytest

from hydra_eval.errors import UserError

from .builders import numbered, picked, rows_of

DOCS = numbered(range(20))
TRAIN = numbered(range(100, 140), split="train")


def test_first_n_takes_the_first_rows_in_order() -> None:
    assert rows_of(picked(DOCS, strategy="first_n", pool=TRAIN, n=3)) == [[100, 101, 102]] * 20


def test_first_n_out_of_the_documents_skips_the_document() -> None:
    picks = picked(DOCS, strategy="first_n", pool=DOCS, n=3)
    assert rows_of(picks)[:4] == [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]
    assert picks.replaced == 3


@pytest.mark.parametrize(("seed", "first"), [(0, 100), (1, 103), (13, 139), (14, 102)])
def test_sequential_begins_at_n_times_seed_and_goes_round(seed: int, first: int) -> None:
    assert rows_of(picked(DOCS, strategy="sequential", pool=TRAIN, n=3, seed=seed))[0][0] == first


def test_random_shows_every_document_the_same_rows_in_the_same_order() -> None:
    rows = rows_of(picked(DOCS, strategy="random", pool=TRAIN, n=5))
    assert rows == [rows[0]] * 20
    assert rows[0] != sorted(rows[0]) and len(set(rows[0])) == 5


def test_more_random_shots_begin_with_the_fewer() -> None:
    few, many = (rows_of(picked(DOCS, strategy="random", pool=TRAIN, n=n))[0] for n in (3, 10))
    assert many[:3] == few


def test_random_per_doc_shows_other_rows_to_each() -> None:
    rows = rows_of(picked(DOCS, strategy="random_per_doc", pool=TRAIN, n=5))
    assert len({tuple(row) for row in rows}) == 20
    assert all(len(set(row)) == 5 for row in rows)


def test_random_per_doc_reaches_all_of_the_pool() -> None:
    rows = rows_of(picked(DOCS, strategy="random_per_doc", pool=TRAIN, n=40))
    assert all(sorted(row) == list(range(100, 140)) for row in rows)


@pytest.mark.parametrize(
    "strategy",
    ["lm_eval", "random", "random_per_doc", "random_sampling", "random_sampling_from_train", "sequential", "task"],
)
def test_seeds_0_1_and_2_differ_and_repeat(strategy: str) -> None:
    seeded = [rows_of(picked(DOCS, strategy=strategy, pool=TRAIN, n=5, seed=seed)) for seed in (0, 1, 2)]
    again = [rows_of(picked(DOCS, strategy=strategy, pool=TRAIN, n=5, seed=seed)) for seed in (0, 1, 2)]
    assert seeded == again
    assert seeded[0] != seeded[1] != seeded[2] != seeded[0]


def test_a_sample_that_leaks_gives_way_to_the_one_drawn_beyond() -> None:
    theirs = rows_of(picked(DOCS, strategy="random_sampling", pool=DOCS, n=4, on_leak="allow"))
    more = rows_of(picked(DOCS, strategy="random_sampling_from_train", pool=DOCS, n=5, on_leak="allow"))
    ours = rows_of(picked(DOCS, strategy="random_sampling", pool=DOCS, n=4))
    assert any(doc in theirs[doc] for doc in range(20))
    assert ours == [[row for row in more[doc] if row != doc][:4] for doc in range(20)]


@pytest.mark.parametrize("strategy", ["random_sampling", "random_sampling_from_train"])
def test_a_pool_of_no_more_than_n_can_be_sampled(strategy: str) -> None:
    rows = rows_of(picked(DOCS, strategy=strategy, pool=TRAIN[:3], n=3))
    assert all(sorted(row) == [100, 101, 102] for row in rows)


def test_fixed_shows_the_named_rows_in_their_order() -> None:
    assert rows_of(picked(DOCS, strategy="fixed", pool=TRAIN, n=3, indices=(3, 1, 7))) == [[103, 101, 107]] * 20


def test_a_named_row_that_is_the_document_gives_way_to_the_first_that_is_not_named() -> None:
    picks = picked(DOCS, strategy="fixed", pool=DOCS, n=3, indices=(3, 0, 7))
    assert (rows_of(picks)[0], rows_of(picks)[1], picks.replaced) == ([3, 7, 1], [3, 0, 7], 3)


def test_a_named_row_that_is_not_there() -> None:
    with pytest.raises(UserError, match=r"fewshot.indices has 40, but the pool \('train'\) has 40 rows, from 0 on"):
        picked(DOCS, strategy="fixed", pool=TRAIN, n=2, indices=(3, 40))


def test_more_examples_than_named_rows() -> None:
    with pytest.raises(UserError, match=r"3 examples are asked for, but only 2 rows that fewshot\.indices names"):
        picked(DOCS, strategy="fixed", pool=TRAIN, n=3, indices=(3, 1))


def test_an_unknown_strategy_is_named() -> None:
    with pytest.raises(
        UserError, match=r"fewshot.strategy: unknown few-shot strategy 'randm'. Did you mean 'random'\?"
    ):
        picked(DOCS, strategy="randm", pool=TRAIN, n=1)


def test_a_pool_without_a_split_is_called_samples() -> None:
    with pytest.raises(UserError, match=r"only 2 other rows are in the pool \('samples', 2 rows\)"):
        picked(DOCS, pool=TRAIN[:2], pool_split=None, n=3)
