from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydra_eval.errors import UserError
from hydra_eval.fewshot import Picks, pick_shots

from ..toys import FRUIT, docs_of, shot_plan, toy_task
from .builders import answered, numbered, picked, rows_of

DOCS = numbered(range(100, 106))
POOL = answered(["no"] * 5 + ["yes"] * 4 + ["maybe"] * 3)


def classes(picks: Picks) -> list[list[str]]:
    return [[shot.row["answer"] for shot in shots] for shots in picks.shots]


def test_a_class_at_a_time_the_largest_first() -> None:
    assert classes(picked(DOCS, strategy="balanced", pool=POOL, n=5))[0] == ["no", "yes", "maybe", "no", "yes"]


def test_a_class_that_is_used_up_leaves_the_turn_to_the_others() -> None:
    shown = classes(picked(DOCS, strategy="balanced", pool=POOL, n=12))[0]
    assert shown[9:] == ["no", "yes", "no"]


@pytest.mark.parametrize(("n", "expected"), [(3, [1, 9, 8])])
def test_twelve_answers_are_twelve_classes(n: int, expected: list[int]) -> None:
    pool = answered([f"ans{number:02}" for number in range(12)])
    assert rows_of(picked(DOCS, strategy="balanced", pool=pool, n=n, seed=0))[0] == expected


def test_an_empty_answer_is_a_class() -> None:
    shown = classes(picked(DOCS, strategy="balanced", pool=answered(["x", ""] * 3), n=4, seed=0))[0]
    assert sorted(shown) == ["", "", "x", "x"]


def test_a_document_of_the_pool_makes_way_for_its_own_class() -> None:
    docs = answered(["no"] * 4 + ["yes"] * 4, split="test")
    picks = picked(docs, strategy="balanced", pool=docs, n=4)
    assert picks.replaced == 4
    assert classes(picks) == [["no", "yes", "no", "yes"]] * 8 or classes(picks) == [["yes", "no", "yes", "no"]] * 8


@given(
    answers=st.lists(st.sampled_from(["", "a", "b", "c"]), min_size=2, max_size=12),
    n=st.integers(1, 8),
    seed=st.integers(0, 4),
)
def test_classes_differ_by_one_at_most_while_there_are_rows(answers: list[str], n: int, seed: int) -> None:
    docs = answered(answers, split="test")
    picks = picked(docs, strategy="balanced", pool=docs, n=n, seed=seed, shortfall="allow")
    for doc, shown in zip(docs, classes(picks), strict=True):
        stock = Counter(answer for place, answer in enumerate(answers) if place != doc.index)
        counts = Counter(shown)
        most = max(counts.values(), default=0)
        assert all(counts[name] >= most - 1 or counts[name] == stock[name] for name in stock)


def test_a_column_may_be_the_class() -> None:
    pool = docs_of([{"n": n, "kind": "odd" if n % 2 else "even"} for n in range(9)], split="train")
    rows = rows_of(picked(DOCS, strategy="balanced", pool=pool, n=4, class_field="kind"))[0]
    assert [n % 2 for n in rows] == [0, 1, 0, 1]


@pytest.mark.parametrize("strategy", ["balanced", "one_per_class"])
def test_a_column_that_is_not_there_names_the_nearest(strategy: str) -> None:
    with pytest.raises(UserError, match=r"class_field=anser: example 0 has no such column. Did you mean 'answer'\?"):
        picked(DOCS, strategy=strategy, pool=POOL, n=2, class_field="anser")


def test_the_class_of_a_choice_is_its_words() -> None:
    pool = docs_of([{**row, "label": 0, "colours": ["red", "blue"]} for row in FRUIT], split="train")
    task = toy_task(shots=shot_plan(pool, strategy="one_per_class", n=2, shortfall="error"))
    with pytest.raises(UserError, match="2 examples are asked for, but only 1 class of other rows is in"):
        pick_shots(task)


def test_one_of_each_class_the_largest_first() -> None:
    assert classes(picked(DOCS, strategy="one_per_class", pool=POOL, n=3))[0] == ["no", "yes", "maybe"]


def test_more_examples_than_classes() -> None:
    with pytest.raises(UserError, match="4 examples are asked for, but only 3 classes of other rows are in the pool"):
        picked(DOCS, strategy="one_per_class", pool=POOL, n=4)


def test_seeds_show_other_rows_of_the_same_classes() -> None:
    shown = {tuple(rows_of(picked(DOCS, strategy="one_per_class", pool=POOL, n=3, seed=seed))[0]) for seed in range(9)}
    assert len(shown) > 5
