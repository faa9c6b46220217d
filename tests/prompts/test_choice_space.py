from __future__ import annotations

import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydra_eval.prompts.choice_space import choice_request, say_scored_blanks
from hydra_eval.records import RequestKind

from ..toys import request


@pytest.mark.parametrize(
    ("context", "choice", "delimiter", "space", "sent"),
    [
        ("Q:", "A", " ", "keep", ("Q:", " A")),
        ("Q: ", " A", " ", "keep", ("Q: ", "  A")),
        ("Q:", "A", " ", "strip", ("Q:", " A")),
        ("Q: \t", " A", " ", "strip", ("Q:", " A")),
        ("Q:", "A", "\n", "strip", ("Q:", "\nA")),
        ("Q:", "A", "", "strip", ("Q:", "A")),
        ("Q: ", "A", "", "strip", ("Q:", " A")),
        ("Q:", " A", "", "strip", ("Q:", " A")),
        ("Q:\n", "A", "", "strip", ("Q:\n", "A")),
        ("Q:\n", "A", " ", "strip", ("Q:\n", " A")),
        ("Q:", "A ", " ", "strip", ("Q:", " A ")),
        ("Q:", "A", "", "add", ("Q:", " A")),
        ("Q: ", "  A", "\n", "add", ("Q:", " A")),
        ("Q:", " ", "", "strip", ("Q:", " ")),
    ],
)
def test_plain_text(context: str, choice: str, delimiter: str, space: str, sent: tuple[str, str]) -> None:
    asked = choice_request(context, choice, delimiter=delimiter, space=space)
    assert (asked.arguments, asked.moves_blanks) == (sent, True)


@pytest.mark.parametrize(("space", "scored"), [("strip", "A"), ("add", " A")])
@pytest.mark.parametrize("choice", ["A", " A", "\n  A"])
@pytest.mark.parametrize("context", ["<bot>", "<bot>\n", "<bot> "])
def test_a_templates_header_stays_whole(context: str, choice: str, space: str, scored: str) -> None:
    asked = choice_request(context, choice, space=space, header=True)
    assert (asked.arguments, asked.moves_blanks) == ((context, scored), False)


@given(st.text("Q: \t", max_size=6), st.text("A \n", max_size=4), st.sampled_from(["", " ", ": "]))
def test_keep_changes_no_byte(context: str, choice: str, delimiter: str) -> None:
    assert choice_request(context, choice, delimiter=delimiter).arguments == (context, delimiter + choice)


@pytest.mark.parametrize(
    ("context", "continuation", "chat", "said"),
    [
        ("Q:", " A", False, None),
        ("Q: ", "A", False, None),
        ("Q: ", " A", False, "toy: as in lm-eval two blanks are scored with a choice"),
        ("<bot>\n", "A", True, "toy: as in lm-eval the line end of the chat template's header is scored"),
        ("Q:\n", "A", False, None),
        ("<bot>", "A", True, None),
    ],
)
def test_one_line_says_what_is_scored(
    context: str, continuation: str, chat: bool, said: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    asked = [request(number, context=context, continuation=continuation) for number in range(3)]
    with caplog.at_level(logging.WARNING):
        say_scored_blanks(asked, chat=chat)
    assert [record.getMessage()[: len(said or "")] for record in caplog.records] == ([said] if said else [])


@pytest.mark.parametrize("changes", [{"moves_blanks": False}, {"kind": RequestKind.GENERATE}], ids=["own", "reply"])
def test_nothing_is_said_where_no_blank_is_scored(changes: Any, caplog: pytest.LogCaptureFixture) -> None:
    say_scored_blanks([request(context="<bot>\n", continuation="A", **changes)], chat=True)
    assert caplog.records == []
