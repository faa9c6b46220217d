from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hydra_eval.pipeline import prepare
from hydra_eval.prompts.style import Style

from ..toys import toy_task


def said(caplog: pytest.LogCaptureFixture, text: Any, choice: str, delimiter: str, style: Style | None = None) -> str:
    """What a task says whose question ends and whose choices begin like this."""
    task = toy_task()
    template = replace(
        task.template, text=lambda row: text, choices=lambda row: [choice, choice], target_delimiter=delimiter
    )
    prepare([replace(task, template=template)] * 2, style or Style(), batch_tokens=4096)
    return "\n".join(record.getMessage() for record in caplog.records if record.name == "hydra_eval.prompts.seams")


@pytest.mark.parametrize(
    ("text", "choice", "delimiter", "told"),
    [
        (
            "Answer:",
            "A",
            "",
            "no white space stands between the prompt and the choice: 'Answer:' + 'A'; prompt.choice_",
        ),
        ("It is", "red", "", "no white space stands between"),
        (
            "It is",
            " red",
            " ",
            "the delimiter and the choice both bring white space: 'It is' + '  red'; prompt.choice_",
        ),
        ("Answer\n", "A", " ", "the prompt ends in white space and the delimiter or the choice brings more"),
    ],
    ids=["a cue", "a word", "twice", "a line end"],
)
def test_says_once_what_is_odd(
    text: str, choice: str, delimiter: str, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    message = said(caplog, text, choice, delimiter)
    assert message.startswith(f"task 'toy': {told}")
    assert len(caplog.records) == 1


@pytest.mark.parametrize(
    ("text", "choice", "delimiter"),
    [
        ("Answer:", "A", " "),
        ("Answer:", " A", ""),
        ("Answer: ", "A", ""),
        ("Answer:", "A", "\n"),
        ("Answer\n", "A", ""),
        ("答案：", "A", ""),
        ("答案", "红", ""),
        ('He said "', "yes", ""),
        ("", " A", " "),
        ("It is", ", well, red", ""),
    ],
    ids=["delimiter", "choice", "prompt", "line", "line in the prompt", "wide", "no blanks", "quote", "empty", "comma"],
)
def test_is_silent_about_the_usual(text: str, choice: str, delimiter: str, caplog: pytest.LogCaptureFixture) -> None:
    assert said(caplog, text, choice, delimiter) == ""


def chat(turns: list[dict[str, str]], opens: bool) -> str:
    return "".join(f"<{turn['role']}>{turn['content']}" for turn in turns) + ("<assistant>" if opens else "")


@pytest.mark.parametrize(
    "style",
    [Style(chat=chat), Style(choice_space="add"), Style(choice_space="strip")],
    ids=["after a header", "one blank asked for", "none asked for"],
)
def test_is_silent_where_the_run_decides(style: Style, caplog: pytest.LogCaptureFixture) -> None:
    assert said(caplog, "Answer:", "A", "", style) == ""
