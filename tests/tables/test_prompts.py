from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from hydra_eval.fewshot import pick_shots
from hydra_eval.pipeline import prepare
from hydra_eval.prompts.style import Style
from hydra_eval.tables.lighteval.docs import Doc
from hydra_eval.tables.prompts import table_messages, table_prompt

from ..prompts.prompt_vectors import ASKED, SHOTS, VECTORS, Row, Vector
from ..wordings import INSTRUCTIONS, QUESTIONS, STYLES
from .files import entry, table_task, write_table


def made(row: Row) -> Doc:
    return Doc(
        query=row["query"],
        choices=row["golds"],
        gold_index=list(range(len(row["golds"]))),
        instruction=row["told"],
    )


@pytest.mark.parametrize("vector", VECTORS.values(), ids=VECTORS)
def test_plain_prompts(vector: Vector) -> None:
    shots = [made(shot) for shot in vector.shots]
    assert table_prompt(made(vector.asked), shots, Style(system=vector.system)) == vector.text


@pytest.mark.parametrize("vector", VECTORS.values(), ids=VECTORS)
def test_chat_turns(vector: Vector) -> None:
    messages = table_messages(made(vector.asked), [made(shot) for shot in vector.shots], Style(system=vector.system))
    assert tuple((message["role"], message["content"]) for message in messages) == vector.turns


def test_chat_as_one_turn() -> None:
    style = Style(chat=STYLES["one turn"].chat, multiturn=False, system="SYS")
    text = table_prompt(made(ASKED), [made(shot) for shot in SHOTS], style)
    assert text == "<system>SYS<user>INSTR\n\n\n\nQ: 1\nA: x\n\nQ: 2\nA: y\n\nQ: 3\nA:<assistant>"


@pytest.mark.parametrize("style", [STYLES["turns"], STYLES["one turn, system"]], ids=["turns", "one turn"])
def test_messages_are_what_the_prompt_says(style: Style) -> None:
    asked = (made(ASKED), [made(shot) for shot in SHOTS], style)
    assert table_prompt(*asked) == style.speak(table_messages(*asked))


@pytest.mark.parametrize("n", [0, 1, 5])
@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES)
@given(told=INSTRUCTIONS, questions=QUESTIONS)
def test_the_instruction_stands_exactly_once(told: str, questions: list[str], style: Style, n: int) -> None:
    asked, *shots = [made({"query": told + question, "golds": [question], "told": told}) for question in questions]
    assert table_prompt(asked, shots[:n], style).count(told.strip()) == 1


@pytest.mark.parametrize("n", [0, 1, 5])
@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES)
def test_the_instruction_of_an_entry_stands_exactly_once(tmp_path: Path, n: int, style: Style) -> None:
    task = table_task(write_table(tmp_path, entry(function="told")), f"pick|{n}")
    work = prepare([task], style, batch_tokens=1000)
    assert {instance.context.count("INSTR") for requests in work.requests_of.values() for instance in requests} == {1}
    assert [len(shots) for shots in pick_shots(task).shots] == [n] * 6


@pytest.mark.parametrize(
    ("style", "space", "end", "choice"),
    [
        ("plain", "keep", "A:", " no"),
        ("plain", "add", "A:", " no"),
        ("plain", "strip", "A:", " no"),
        ("turns", "keep", "<assistant>", " no"),
        ("turns", "add", "<assistant>", " no"),
        ("turns", "strip", "<assistant>", "no"),
    ],
)
def test_white_space_before_a_choice(tmp_path: Path, style: str, space: str, end: str, choice: str) -> None:
    task = table_task(write_table(tmp_path, entry()), "pick")
    style_: Any = Style(chat=STYLES[style].chat, choice_space=space)
    first = prepare([task], style_, batch_tokens=1000).requests_of[task.docs[0].key][0]
    assert (first.context[-len(end) :], first.continuation) == (end, choice)
