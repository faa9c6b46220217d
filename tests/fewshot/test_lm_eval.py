from __future__ import annotations

from typing import Any

import pytest

from hydra_eval.errors import UserError
from hydra_eval.records import Doc

from .builders import numbered, picked, rows_of

DOCS = numbered(range(50))
TRAIN = numbered(range(100, 140), split="train")


def oracle(docs: tuple[Doc, ...], pool: tuple[Doc, ...], *, n: int, seed: int, sampler: str, excludes: bool) -> Any:
    """The rows that lm-eval's own sampler draws, document after document."""
    samplers = pytest.importorskip("lm_eval.api.samplers", reason="needs lm-evaluation-harness (extra: parity)")
    drawing = samplers.get_sampler(sampler)([doc.row for doc in pool], rnd=seed)
    return [[row["n"] for row in drawing.sample(n=n, eval_doc=doc.row if excludes else None, df=None)] for doc in docs]


@pytest.mark.parity
@pytest.mark.parametrize("seed", [1234, 0, 7])
@pytest.mark.parametrize("n", [1, 5, 25])
@pytest.mark.parametrize(
    ("pool", "excludes"),
    [(TRAIN, False), (TRAIN, True), (DOCS, True)],
    ids=["train", "train, one more drawn", "the documents themselves"],
)
def test_fifty_documents_get_lm_evals_picks(seed: int, n: int, pool: tuple[Doc, ...], excludes: bool) -> None:
    picks = picked(DOCS, pool=pool, n=n, seed=seed, excludes_doc=excludes)
    assert rows_of(picks) == oracle(DOCS, pool, n=n, seed=seed, sampler="default", excludes=excludes)
    assert picks.replaced == 0


@pytest.mark.parity
@pytest.mark.parametrize(
    ("pool", "excludes"), [(TRAIN, False), (DOCS, True)], ids=["train", "the documents themselves"]
)
def test_first_n_is_lm_evals(pool: tuple[Doc, ...], excludes: bool) -> None:
    picks = picked(DOCS, pool=pool, n=5, sampler="first_n", excludes_doc=excludes)
    assert rows_of(picks) == oracle(DOCS, pool, n=5, seed=1234, sampler="first_n", excludes=excludes)
    assert picks.replaced == 0


def test_first_n_replaces_and_counts_where_lm_eval_leaves_the_document_in() -> None:
    picks = picked(DOCS, pool=DOCS, n=2, sampler="first_n")
    assert rows_of(picks)[:4] == [[1, 2], [0, 2], [0, 1], [0, 1]]
    assert picks.replaced == 2


def test_first_n_leaves_the_document_in_on_request() -> None:
    picks = picked(DOCS, pool=DOCS, n=2, sampler="first_n", on_leak="allow")
    assert rows_of(picks) == [[0, 1]] * 50
    assert picks.replaced == 0


@pytest.mark.parity
def test_duplicates_of_the_document_are_drawn_around_as_in_lm_eval() -> None:
    docs = numbered([number % 5 for number in range(50)])
    ours = rows_of(picked(docs, pool=docs, n=4, excludes_doc=True))
    assert ours == oracle(docs, docs, n=4, seed=1234, sampler="default", excludes=True)


@pytest.mark.parity
def test_only_a_leaking_prompt_differs_and_only_in_the_leaking_example() -> None:
    ours = rows_of(picks := picked(DOCS, pool=DOCS, n=5))
    theirs = oracle(DOCS, DOCS, n=5, seed=1234, sampler="default", excludes=False)
    differing = [
        (doc, mine, their) for doc, (mine, their) in enumerate(zip(ours, theirs, strict=True)) if mine != their
    ]
    assert differing and picks.replaced == len(differing)
    for doc, mine, their in differing:
        assert [place for place in range(5) if mine[place] != their[place]] == [their.index(doc)]
    assert all(doc not in mine for doc, mine in enumerate(ours))


def test_a_replacement_depends_on_seed_task_and_document_alone() -> None:
    whole = rows_of(picked(DOCS, pool=DOCS, n=5))
    assert rows_of(picked(DOCS, pool=DOCS, n=5)) == whole
    assert rows_of(picked(DOCS, pool=DOCS, n=5, seed=1)) != whole


@pytest.mark.parametrize("seed", range(100))
def test_three_documents_without_a_pool_of_their_own_never_show_themselves(seed: int) -> None:
    docs = numbered(range(3))
    for doc, rows in enumerate(rows_of(picked(docs, pool=docs, n=2, seed=seed))):
        assert sorted(rows) == sorted({0, 1, 2} - {doc})


@pytest.mark.parametrize("excludes", [False, True])
def test_as_many_examples_as_documents_is_one_too_many(excludes: bool) -> None:
    docs = numbered(range(3))
    with pytest.raises(UserError, match=r"task 'toy', document 0: 3 examples are asked for, but only 2 other rows"):
        picked(docs, pool=docs, n=3, excludes_doc=excludes)


def test_a_pool_that_is_too_small_altogether() -> None:
    left = r"41 examples are asked for, but only 40 other rows are in the pool \('train', 40 rows\)"
    with pytest.raises(UserError, match=left):
        picked(DOCS, pool=TRAIN, n=41)


def test_six_documents_get_the_examples_that_lm_eval_draws() -> None:
    pool = numbered(range(100, 108), split="train")
    expected = [[107, 100], [100, 107], [100, 105], [101, 100], [105, 101], [100, 107]]
    assert rows_of(picked(numbered(range(6)), pool=pool, n=2, seed=1234)) == expected


@pytest.mark.parametrize("sampler", ["default", "first_n"])
def test_lm_evals_default_sampler_by_name(sampler: str) -> None:
    by_name = picked(DOCS, pool=TRAIN, n=3, strategy="lm_eval", sampler=sampler)
    assert rows_of(by_name) == rows_of(picked(DOCS, pool=TRAIN, n=3, sampler="default"))


def test_a_twin_is_excluded_too_and_counted() -> None:
    docs = numbered([1, 1, 2, 3])
    picks = picked(docs, pool=docs, n=2)
    assert all(doc.row["n"] not in rows for doc, rows in zip(docs, rows_of(picks), strict=True))
    assert picks.replaced > 0


def test_twins_leave_too_few() -> None:
    docs = numbered([1, 1, 1, 2])
    with pytest.raises(UserError, match="document 0: 2 examples are asked for, but only 1 other row is in the pool"):
        picked(docs, pool=docs, n=2, excludes_doc=True)


def test_a_pool_of_exactly_n_serves_although_lm_eval_would_draw_one_more() -> None:
    picks = picked(DOCS, pool=TRAIN[:3], n=3, excludes_doc=True)
    assert all(sorted(rows) == [100, 101, 102] for rows in rows_of(picks))
    assert picks.replaced == 0


def test_an_unknown_sampler_is_named() -> None:
    with pytest.raises(UserError, match=r"fewshot_config: unknown sampler 'frist_n'. Did you mean 'first_n'\?"):
        picked(DOCS, pool=TRAIN, n=1, sampler="frist_n")
