from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hydra_eval.fewshot import pick_shots
from hydra_eval.fewshot.leaks import Guard, answers, question
from hydra_eval.records import Doc

from ..toys import COLOURS, docs_of, shot_plan, toy_task
from .builders import numbered, picked, rows_of

CHOICE = toy_task().template
GUARD = Guard(template=CHOICE, shot_template=CHOICE)
DOC = Doc(task="toy", split="test", index=0, row={**COLOURS[0], "id": "a"})


def twin(**row: Any) -> Doc:
    return Doc(task="toy", split="train", index=3, row={**DOC.row, "id": "b", **row})


@pytest.mark.parametrize(
    ("shot", "leaks"),
    [
        (twin(), True),
        (twin(colours=["blue", "green"], label=1), True),
        (twin(thing="moss"), False),
        (twin(label=1), False),
        (twin(colours=["green", "red"]), True),
    ],
    ids=["another id", "choices in another order", "another question", "another answer", "other wrong choices"],
)
def test_the_same_question_with_the_same_answer_is_the_document(shot: Doc, leaks: bool) -> None:
    assert GUARD.leaks(shot, DOC) == leaks


def test_the_same_row_is_the_document_however_examples_are_worded() -> None:
    other = replace(CHOICE, text=lambda row: "?")
    guard = Guard(template=CHOICE, shot_template=other)
    assert guard.leaks(replace(DOC, split="train", index=3), DOC)
    assert not guard.leaks(twin(), DOC)


def test_only_rows_that_are_picked_are_worded() -> None:
    seen: list[Any] = []
    template = replace(CHOICE, text=lambda row: seen.append(row["thing"]) or row["thing"])
    pool = docs_of([{**COLOURS[0], "thing": f"thing {number}"} for number in range(1000)], split="train")
    task = toy_task(template=template, shot_template=template, shots=shot_plan(pool, strategy="random_per_doc", n=3))
    pick_shots(replace(task, docs=task.docs[:2]))
    assert len(set(seen)) <= 2 + 2 * 3


@pytest.mark.parametrize(
    ("text", "target", "asked", "right"),
    [
        ("Which?", 1, "Which?", ("blue",)),
        ("", 1, "green\nblue", ("blue",)),
        (0, "it is", "green\nblue", ("it is",)),
        ("Which?", [0, 1], "Which?", ("green", "blue")),
        ("Which?", 7, "Which?", ("7",)),
        ("Which?", [], "Which?", ()),
    ],
    ids=["choice", "choices alone", "choice in the context", "several", "no such choice", "none"],
)
def test_question_and_answers(text: Any, target: Any, asked: str, right: tuple[str, ...]) -> None:
    template = replace(CHOICE, text=lambda row: text, target=lambda row: target)
    assert (question(template, COLOURS[0]), answers(template, COLOURS[0])) == (asked, right)


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
