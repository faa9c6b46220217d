"""The prompt vectors were made with lighteval's own PromptManager (0.13)."""

from __future__ import annotations

from pathlib import Path

import pytest

from hydra_eval.fewshot import pick_shots
from hydra_eval.pipeline import prepare
from hydra_eval.style import Style
from hydra_eval.tables.lighteval.docs import Doc
from hydra_eval.tables.prompts import chat_messages, plain_prompt, table_prompt

from .files import entry, table_task, write_table

TOLD = "INSTR\n\n"
SHOTS = (
    Doc(query=f"{TOLD}Q: 1\nA:", choices=[" x "], gold_index=0, instruction=TOLD),
    Doc(query="Q: 2\nA:", choices=[" y"], gold_index=0),
)
ASKED = Doc(query=f"{TOLD}Q: 3\nA:", choices=[" z"], gold_index=0, instruction=TOLD)
BARE = Doc(query=f"{TOLD}Q: 3\nA:", choices=[" z"], gold_index=0)
EMPTY = Doc(query="  Q: 3\nA: ", choices=[" z"], gold_index=0, instruction="")
SPACED = Doc(query="Q: 1\nA: ", choices=["x1", "x2"], gold_index=[0, 1])


@pytest.mark.parametrize(
    ("doc", "shots", "system", "prompt"),
    [
        (ASKED, SHOTS, None, "INSTR\n\n\n\nQ: 1\nA: x\n\nQ: 2\nA: y\n\nQ: 3\nA:"),
        (ASKED, SHOTS, "SYS", "SYS\n\nINSTR\n\n\n\nQ: 1\nA: x\n\nQ: 2\nA: y\n\nQ: 3\nA:"),
        (ASKED, (), None, "INSTR\n\n\n\nQ: 3\nA:"),
        (BARE, (), "", "\n\nINSTR\n\nQ: 3\nA:"),
        (EMPTY, (), None, "\n\nQ: 3\nA:"),
        (Doc(query="Q: 3\nA: ", choices=["z"], gold_index=0), (SPACED,), None, "Q: 1\nA:  x1\n\nQ: 3\nA: "),
    ],
    ids=["shots", "system", "no shots", "empty system", "empty instruction", "several golds"],
)
def test_plain_prompts(doc: Doc, shots: tuple[Doc, ...], system: str | None, prompt: str) -> None:
    assert plain_prompt(doc, shots, system) == prompt


@pytest.mark.parametrize(
    ("shots", "turns"),
    [
        (
            SHOTS,
            [
                ("user", "INSTR\n\nQ: 1\nA:"),
                ("assistant", " x "),
                ("user", "Q: 2\nA:"),
                ("assistant", " y"),
                ("user", "Q: 3\nA:"),
            ],
        ),
        ((), [("user", "INSTR\n\nQ: 3\nA:")]),
    ],
    ids=["shots", "no shots"],
)
def test_chat_turns(shots: tuple[Doc, ...], turns: list[tuple[str, str]]) -> None:
    messages = chat_messages(ASKED, shots, "SYS")
    assert [(message["role"], message["content"]) for message in messages] == [("system", "SYS"), *turns]


def spoken(messages: list[dict[str, str]], opens: bool) -> str:
    return "".join(f"<{message['role']}>{message['content']}" for message in messages) + "<assistant>" * opens


CHAT = Style(chat=spoken)


def test_chat_as_one_turn() -> None:
    style = Style(chat=spoken, multiturn=False, system="SYS")
    text = table_prompt(ASKED, SHOTS, style)
    assert text == "<system>SYS<user>INSTR\n\n\n\nQ: 1\nA: x\n\nQ: 2\nA: y\n\nQ: 3\nA:<assistant>"


@pytest.mark.parametrize("n", [0, 1, 5])
@pytest.mark.parametrize("style", [Style(), CHAT, Style(system="SYS")], ids=["plain", "chat", "system"])
def test_the_instruction_stands_exactly_once(tmp_path: Path, n: int, style: Style) -> None:
    task = table_task(write_table(tmp_path, entry(function="told")), f"pick|{n}")
    work = prepare([task], style, batch_tokens=1000)
    assert {instance.context.count("INSTR") for requests in work.requests_of.values() for instance in requests} == {1}
    assert [len(shots) for shots in pick_shots(task).shots] == [n] * 6
