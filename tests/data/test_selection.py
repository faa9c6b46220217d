from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from hydra_eval.data.choice import Choice, Subset
from hydra_eval.data.selection import amount, by_number, choose, distinct, draw, largest_remainders
from hydra_eval.errors import UserError
from hydra_eval.records import Doc

from ..toys import docs_of

DOCS = docs_of([{"n": n, "kind": "abc"[(n * n) % 3], "asked": n // 2} for n in range(20)])


def numbers(docs: Any) -> list[int]:
    return [doc.index for doc in docs]


def drawn(n: Any, seed: int = 1, stratify: str | None = None) -> list[Doc]:
    return draw(DOCS, Subset(n=n, seed=seed, stratify=stratify))


@pytest.mark.parametrize(
    ("asked", "found"),
    [(None, 20), (3, 3), (30, 20), (0.5, 10), (0.01, 1), (0.31, 7), (1.0, 1), (2.0, 2)],
)
def test_a_limit_is_a_count_or_a_share_rounded_up(asked: Any, found: int) -> None:
    assert amount(asked, 20) == found


def test_numbers_are_visited_in_data_set_order_and_keep_their_labels() -> None:
    assert [(doc.index, doc.row["n"]) for doc in by_number(DOCS, [5, 2, 5])] == [(2, 2), (5, 5)]


def test_a_number_that_is_no_document() -> None:
    with pytest.raises(UserError, match="sample_ids: task 'toy' has documents 0 to 19, and no 20, 31"):
        by_number(DOCS, [3, 31, 20])


def test_of_equal_documents_the_first_stays() -> None:
    assert numbers(distinct(DOCS, lambda row: row["asked"])) == list(range(0, 20, 2))


@pytest.mark.parametrize("n", [1, 7, 20, 99, 0.25])
def test_a_subset_has_as_many_as_asked_in_order(n: Any) -> None:
    found = numbers(drawn(n))
    assert len(set(found)) == amount(n, 20)
    assert found == sorted(found)


def test_a_subset_depends_on_its_seed_alone() -> None:
    assert drawn(7) == drawn(7)
    assert drawn(7) != drawn(7, seed=2)


def test_a_larger_subset_adds_to_a_smaller_one() -> None:
    assert set(numbers(drawn(5))) < set(numbers(drawn(9)))


def test_strata_keep_their_shares() -> None:
    assert Counter(doc.row["kind"] for doc in DOCS) == {"a": 7, "b": 13}
    assert Counter(doc.row["kind"] for doc in drawn(10, stratify="kind")) == {"a": 4, "b": 6}


def test_strata_may_have_any_values() -> None:
    docs = docs_of([{"kind": kind} for kind in ([1], None, {"a": 1}, [1])])
    assert len(draw(docs, Subset(n=2, seed=0, stratify="kind"))) == 2


def test_a_column_that_is_not_there() -> None:
    with pytest.raises(UserError, match=r"subset.stratify=kid: task 'toy' has no such column. Did you mean 'kind'\?"):
        drawn(3, stratify="kid")


@pytest.mark.parametrize(
    ("sizes", "seats", "quotas"),
    [
        ({"a": 50, "b": 30, "c": 20}, 10, {"a": 5, "b": 3, "c": 2}),
        ({"a": 1, "b": 1, "c": 1}, 2, {"a": 1, "b": 1, "c": 0}),
        ({"a": 98, "b": 1, "c": 1}, 50, {"a": 49, "b": 1, "c": 0}),
        ({"a": 416, "b": 338, "c": 246}, 10, {"a": 4, "b": 3, "c": 3}),
        ({"a": 5}, 5, {"a": 5}),
    ],
    ids=["even", "ties go by name", "one large", "remainders", "one"],
)
def test_largest_remainders(sizes: dict[str, int], seats: int, quotas: dict[str, int]) -> None:
    assert largest_remainders(sizes, seats) == quotas


@pytest.mark.parametrize(
    ("choice", "found", "duplicates"),
    [
        (Choice(), list(range(20)), None),
        (Choice(limit=3), [0, 1, 2], None),
        (Choice(limit=3, dedupe=True), [0, 2, 4], 10),
        (Choice(limit=0.5, dedupe=True), [0, 2, 4, 6, 8], 10),
        (Choice(ids=(9, 4)), [4, 9], None),
        (Choice(ids=(9, 8, 4), dedupe=True), [4, 8], 1),
    ],
    ids=["whole", "limit", "distinct", "share of the distinct", "numbers", "distinct numbers"],
)
def test_what_a_choice_leaves(choice: Choice, found: list[int], duplicates: int | None) -> None:
    chosen = choose(DOCS, choice, lambda row: row["asked"])
    assert (numbers(chosen.docs), chosen.duplicates) == (found, duplicates)


def test_a_subset_is_drawn_among_the_distinct() -> None:
    choice = Choice(subset=Subset(n=4, seed=3, stratify=None), dedupe=True)
    assert all(index % 2 == 0 for index in numbers(choose(DOCS, choice, lambda row: row["asked"]).docs))


def test_nobody_asks_what_a_document_says_unless_duplicates_go() -> None:
    assert len(choose(DOCS, Choice(limit=3), lambda row: 1 / 0).docs) == 3
