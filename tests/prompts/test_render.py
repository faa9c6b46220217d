from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from hydra_eval.errors import UserError
from hydra_eval.fewshot import pick_shots
from hydra_eval.prompts.render import prompt_messages, render_prompt
from hydra_eval.prompts.style import Style
from hydra_eval.records import Doc
from hydra_eval.tasks.task import Task

from ..toys import CHOICE, COLOURS, FRUIT, built, docs_of, toy_task, write_task
from ..wordings import INSTRUCTIONS, QUESTIONS, STYLES, spoken
from .prompt_vectors import VECTORS, Row, Vector

GRASS = docs_of(COLOURS)[0]
BANANA, PLUM, *_ = docs_of(FRUIT, split="train")
ASK = "What is the colour of grass?"
SHOWN = "What is the colour of a ripe banana?"


def changed(task: Task | None = None, **changes: Any) -> Task:
    """The toy task with fields of both of its templates changed."""
    task = task or toy_task()
    template = replace(task.template, **changes)
    return replace(task, template=template, shot_template=template)


MULTI = Style(chat=spoken)
SINGLE = Style(chat=spoken, multiturn=False)


@pytest.mark.parametrize(
    ("shots", "expected"),
    [
        ([], ASK),
        ([BANANA], f"{SHOWN} yellow\n\n{ASK}"),
        ([BANANA, PLUM], f"{SHOWN} yellow\n\nWhat is the colour of a plum? purple\n\n{ASK}"),
    ],
    ids=["0 shots", "1 shot", "2 shots"],
)
def test_plain_text_is_a_concatenation(shots: Any, expected: str) -> None:
    assert render_prompt(toy_task(), GRASS, shots, Style()) == expected


def test_an_example_may_give_its_choice_as_a_number_of_numpys() -> None:
    task = changed(target=lambda row: np.int32(row["label"]))
    assert render_prompt(task, GRASS, [BANANA], Style()) == f"{SHOWN} yellow\n\n{ASK}"


@pytest.mark.parametrize(
    ("system", "description", "expected"),
    [
        (None, None, ASK),
        (None, "Answer.\n\n", f"Answer.\n\n{ASK}"),
        (None, "Answer.", f"Answer.{ASK}"),
        ("Be brief.", None, f"Be brief.{ASK}"),
        ("Be brief.", "Answer.", f"Be brief.\n\nAnswer.{ASK}"),
        ("Be brief.\n", "Answer.", f"Be brief.\nAnswer.{ASK}"),
        ("Be brief.", "\tAnswer.", f"Be brief.\tAnswer.{ASK}"),
    ],
)
def test_system_and_description_are_joined_only_where_no_white_space_is(
    system: str | None, description: str | None, expected: str
) -> None:
    task = toy_task(description=lambda row: description)
    assert render_prompt(task, GRASS, [], Style(system=system)) == expected


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        ("It is", f"{SHOWN} It is yellow\n\n{ASK} It is"),
        ("It is ", f"{SHOWN} It is yellow\n\n{ASK} It is "),
        ("\nIt is", f"{SHOWN}\nIt is yellow\n\n{ASK}\nIt is"),
        ("", f"{SHOWN} yellow\n\n{ASK}"),
    ],
)
def test_a_prefix_stands_before_the_answer_with_white_space_once(prefix: str, expected: str) -> None:
    assert render_prompt(changed(gen_prefix=lambda row: prefix), GRASS, [BANANA], Style()) == expected


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("yellow", f"{SHOWN} yellow\n\n{ASK}"),
        (" yellow", f"{SHOWN}  yellow\n\n{ASK}"),
        (["yellow", "gold"], f"{SHOWN} yellow\n\n{ASK}"),
        ("", f"{SHOWN}{ASK}"),
        ([""], f"{SHOWN} \n\n{ASK}"),
        (None, f"{SHOWN}{ASK}"),
    ],
)
def test_the_answer_of_an_example(target: Any, expected: str) -> None:
    assert render_prompt(changed(target=lambda row: target), GRASS, [BANANA], Style()) == expected


def test_a_choice_that_is_empty_is_still_an_answer() -> None:
    task = changed(choices=lambda row: ["", "x"], target=lambda row: 0)
    assert render_prompt(task, GRASS, [BANANA], Style()) == f"{SHOWN} \n\n{ASK}"


@pytest.mark.parametrize(("target", "answer"), [(0, "yellow"), (1, "grey"), (-1, "grey"), ("grey", "grey")])
def test_a_number_is_a_choice_and_text_is_itself(target: Any, answer: str) -> None:
    task = changed(target=lambda row: target)
    assert render_prompt(task, GRASS, [BANANA], Style()) == f"{SHOWN} {answer}\n\n{ASK}"


def test_delimiters_are_the_examples_own_and_the_last_question_has_none() -> None:
    task = toy_task()
    shot_template = replace(task.template, target_delimiter=": ", fewshot_delimiter=" | ")
    assert (
        render_prompt(replace(task, shot_template=shot_template), GRASS, [BANANA], Style())
        == f"{SHOWN}: yellow | {ASK}"
    )


def contexts_task() -> Task:
    """Each choice makes a context of its own; the answer is common to all."""
    choices = lambda row: [f"{row['thing']} is {colour}" for colour in row["colours"]]  # noqa: E731
    task = changed(choices=choices, text=lambda row: row["label"], target=lambda row: "in the main.")
    return replace(task, multiple_input=True)


def test_contexts_that_differ_per_choice() -> None:
    shown = "a ripe banana is yellow in the main.\n\n"
    assert render_prompt(contexts_task(), GRASS, [BANANA], Style()) == [
        f"{shown}grass is green",
        f"{shown}grass is blue",
    ]


def test_contexts_that_differ_under_a_chat_template() -> None:
    assert render_prompt(contexts_task(), GRASS, [], MULTI) == [
        "<user>grass is green<assistant>",
        "<user>grass is blue<assistant>",
    ]


@pytest.mark.parametrize(
    ("style", "expected"),
    [
        (MULTI, f"<system>Be brief.\n\nAnswer.<user>{SHOWN}<assistant>yellow<user>{ASK}<assistant>"),
        (SINGLE, f"<system>Be brief.\n\nAnswer.<user>{SHOWN} yellow\n\n{ASK}<assistant>"),
    ],
    ids=["multiturn", "singleturn"],
)
def test_chat_turns(style: Style, expected: str) -> None:
    task = toy_task(description=lambda row: "Answer.")
    assert render_prompt(task, GRASS, [BANANA], replace(style, system="Be brief.")) == expected


@pytest.mark.parametrize(
    ("style", "expected"),
    [
        (MULTI, f"<user>{SHOWN}<assistant>It is yellow<user>{ASK}<assistant>It is"),
        (SINGLE, f"<user>{SHOWN} It is yellow\n\n{ASK}<assistant>It is"),
    ],
    ids=["multiturn", "singleturn"],
)
def test_a_prefix_is_continued_by_the_assistant(style: Style, expected: str) -> None:
    assert render_prompt(changed(gen_prefix=lambda row: "It is"), GRASS, [BANANA], style) == expected


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"text": lambda row: 3}, "doc_to_text must give text, but gave 3"),
        ({"text": lambda row: None}, "doc_to_text must give text, but gave None"),
        ({"target": lambda row: 2}, "example 0: its target is choice 2, but there are 2 choices"),
        (
            {"target": lambda row: 1.5},
            "toy.yaml: doc_to_target of an example must give text, or an index .*, but gave 1.5",
        ),
        ({"target": lambda row: [2, 0]}, "example 0: its target is choice 2, but there are 2 choices"),
        (
            {"target": lambda row: []},
            r"toy.yaml: doc_to_target of an example must give text, or an index .*, but gave \[\]",
        ),
        ({"target": lambda row: [None]}, "doc_to_target of an example must give text, .* but gave None"),
        ({"choices": None}, "toy.yaml: doc_to_target of an example must give text, or an index .*, but gave 0"),
    ],
)
def test_what_cannot_be_shown(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        render_prompt(changed(**changes), GRASS, [BANANA], Style())


def test_a_context_index_out_of_range_is_a_user_error() -> None:
    task = contexts_task()
    broken = replace(task, shot_template=replace(task.template, text=lambda row: 2))
    with pytest.raises(UserError, match="example 0: its target is choice 2, but there are 2 choices"):
        render_prompt(broken, GRASS, [BANANA], Style())


def told_task(**changes: Any) -> Task:
    """Rows with `query`, `golds` and `told`, as text, answer and description."""
    template = {"text": lambda row: row["query"], "target": lambda row: row["golds"], "choices": None}
    task = changed(toy_task("generate_until"), **template, **changes)
    return replace(task, description=lambda row: row["told"])


def doc(row: Row) -> Doc:
    return Doc(task="toy", split="test", index=0, row=row)


@pytest.mark.parametrize("n", [0, 1, 5])
@pytest.mark.parametrize("join", ["lm_eval", "lighteval"])
@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES)
@given(told=INSTRUCTIONS, questions=QUESTIONS)
def test_the_description_stands_exactly_once(told: str, questions: list[str], style: Style, join: str, n: int) -> None:
    asked, *shots = [doc({"query": question, "golds": [question], "told": told}) for question in questions]
    prompt = render_prompt(told_task(), asked, shots[:n], replace(style, join=join))
    assert isinstance(prompt, str)
    assert prompt.count(told.strip()) == 1


LIGHTEVAL = Style(join="lighteval")


@pytest.mark.parametrize("vector", VECTORS.values(), ids=VECTORS)
def test_lightevals_plain_text(vector: Vector) -> None:
    shots = [doc(shot) for shot in vector.shots]
    assert render_prompt(told_task(), doc(vector.asked), shots, replace(LIGHTEVAL, system=vector.system)) == vector.text


@pytest.mark.parametrize("vector", VECTORS.values(), ids=VECTORS)
def test_lightevals_turns(vector: Vector) -> None:
    style = replace(LIGHTEVAL, system=vector.system)
    (messages,) = prompt_messages(told_task(), doc(vector.asked), [doc(shot) for shot in vector.shots], style)
    assert tuple((message["role"], message["content"]) for message in messages) == vector.turns


def test_lightevals_join_of_a_task_file(tmp_path: Path) -> None:
    write_task(tmp_path, {**CHOICE, "description": "Name it.\n\n", "fewshot_config": {"sampler": "first_n"}})
    (task,) = built(tmp_path, "toy|1")
    shots = pick_shots(task).shots[0]
    expected = f"SYS\n\nName it.\n\n\n\n{SHOWN} yellow\n\n{ASK}"
    assert render_prompt(task, task.docs[0], shots, replace(LIGHTEVAL, system="SYS")) == expected


@pytest.mark.parametrize(
    ("style", "expected"),
    [
        (LIGHTEVAL, f"{SHOWN} It is yellow\n\n{ASK} It is"),
        (replace(MULTI, join="lighteval"), f"<user>{SHOWN}<assistant>It is yellow<user>{ASK}<assistant>It is"),
        (replace(SINGLE, join="lighteval"), f"<user>{SHOWN} It is yellow\n\n{ASK}<assistant>It is"),
    ],
    ids=["plain", "multiturn", "singleturn"],
)
def test_a_prefix_in_lightevals_join(style: Style, expected: str) -> None:
    assert render_prompt(changed(gen_prefix=lambda row: "It is"), GRASS, [BANANA], style) == expected


def test_an_example_without_an_answer_in_lightevals_join() -> None:
    task = changed(target=lambda row: "")
    assert render_prompt(task, GRASS, [BANANA], LIGHTEVAL) == f"{SHOWN}\n\n{ASK}"
    (messages,) = prompt_messages(task, GRASS, [BANANA], LIGHTEVAL)
    assert [message["content"] for message in messages] == [SHOWN, ASK]


def test_contexts_that_differ_in_lightevals_join() -> None:
    shown = "a ripe banana is yellow in the main.\n\n"
    assert render_prompt(contexts_task(), GRASS, [BANANA], LIGHTEVAL) == [
        f"{shown}grass is green",
        f"{shown}grass is blue",
    ]


@pytest.mark.parametrize("prefix", [None, "It is"])
@pytest.mark.parametrize("join", ["lm_eval", "lighteval"])
@pytest.mark.parametrize("style", [MULTI, SINGLE], ids=["multiturn", "singleturn"])
@pytest.mark.parametrize("task", [toy_task(), contexts_task()], ids=["one context", "contexts"])
def test_messages_say_what_the_prompt_says(task: Task, style: Style, join: str, prefix: str | None) -> None:
    task = changed(replace(task, description=lambda row: "Answer."), gen_prefix=lambda row: prefix)
    style = replace(style, join=join, system="Be brief.")
    prompts = render_prompt(task, GRASS, [BANANA], style)
    spoken_messages = [style.speak(messages) for messages in prompt_messages(task, GRASS, [BANANA], style)]
    assert spoken_messages == (prompts if isinstance(prompts, list) else [prompts])


@pytest.mark.parametrize("join", ["lm_eval", "lighteval"])
@pytest.mark.parametrize("style", [Style(), MULTI, SINGLE], ids=["plain", "turns", "one turn"])
@pytest.mark.parametrize("first", [1, -1, np.int64(1)], ids=repr)
def test_of_several_right_choices_an_example_shows_the_first(first: Any, style: Style, join: str) -> None:
    style = replace(style, join=join)
    several = render_prompt(changed(target=lambda row: [first, 0]), GRASS, [BANANA], style)
    assert "grey" in several
    assert several == render_prompt(changed(target=lambda row: "grey"), GRASS, [BANANA], style)
