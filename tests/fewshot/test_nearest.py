from __future__ import annotations

import pytest

from hydra_eval.fewshot.nearest import SIMILARITIES

from ..toys import docs_of
from .builders import picked, rows_of

THINGS = ("a red apple", "a red car", "the blue sky", "a green apple tree", "the deep blue sea")
POOL = docs_of([{"n": thing} for thing in THINGS], split="train")


def nearest(*things: str, n: int = 2, pool: object = POOL, **plan: object) -> list[list[str]]:
    docs = docs_of([{"n": thing} for thing in things])
    return rows_of(picked(docs, strategy="nearest", pool=pool, n=n, **plan))  # type: ignore[return-value]


@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_the_most_similar_question_comes_first(similarity: str) -> None:
    assert nearest("the blue sea", "a car", similarity=similarity) == [
        ["the deep blue sea", "the blue sky"],
        ["a red car", "a red apple"],
    ]


def test_rare_words_weigh_more_under_tfidf_alone() -> None:
    pool = docs_of([{"n": thing} for thing in ("a cat", "a dog", "a hen", "a b c d zebra")], split="train")
    asked = "a zebra"
    assert nearest(asked, n=1, pool=pool, similarity="tfidf") == [["a b c d zebra"]]
    assert nearest(asked, n=1, pool=pool, similarity="overlap") == [["a cat"]]


@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_ties_go_to_the_first_rows(similarity: str) -> None:
    things = ["x", *["y z"] * 20, "z y", "y"]
    pool = docs_of([{"n": thing, "id": place} for place, thing in enumerate(things)], split="train")
    docs = docs_of([{"n": "z y"}])
    (shown,) = picked(docs, strategy="nearest", pool=pool, n=22, similarity=similarity).shots
    assert [shot.index for shot in shown] == [*range(1, 21), 22, 0]


@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_a_pool_without_a_word_keeps_its_order(similarity: str) -> None:
    similar = SIMILARITIES[similarity](["", "?"])
    assert similar(["a question", ""]).tolist() == [[0, 0], [0, 0]]


def test_twins_are_passed_over_however_many_there_are() -> None:
    pool = docs_of([{"n": "a cat", "id": number} for number in range(50)] + [{"n": "a cat too"}], split="train")
    assert nearest("a cat", n=1, pool=pool) == [["a cat too"]]


def test_every_chunk_of_documents_gets_its_own() -> None:
    things = [THINGS[number % 5] + " too" for number in range(200)]
    assert [row[0] for row in nearest(*things, n=1)] == [THINGS[number % 5] for number in range(200)]
