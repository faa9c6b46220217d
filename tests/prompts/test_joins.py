from __future__ import annotations

import pytest

from hydra_eval.prompts.joins import bare_query, join_with, needs_delimiter


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("a", "b", "a-b"),
        ("a ", "b", "a b"),
        ("a", "\u00a0b", "a\u00a0b"),
        ("", "b", "b"),
        ("a", "", "a"),
        (None, "b", "b"),
        ("a", None, "a"),
        (None, None, ""),
    ],
)
def test_joining(first: str | None, second: str | None, expected: str) -> None:
    assert join_with("-", first, second) == expected


@pytest.mark.parametrize(("first", "second", "needed"), [("a", "b", True), ("a\n", "b", False), ("", "b", False)])
def test_where_a_delimiter_is_needed(first: str, second: str, needed: bool) -> None:
    assert needs_delimiter(first, second) is needed


@pytest.mark.parametrize(
    ("query", "instruction", "bare"),
    [
        ("Do. \nQ ", "Do.", "Q"),
        (" Q ", "Do.", " Q "),
        (" Q ", None, " Q "),
        (" Q ", "", "Q"),
        ("Q Do.", "Do.", "Q Do."),
        ("Do.Do.Q", "Do.", "Do.Q"),
    ],
)
def test_a_query_without_its_instruction(query: str, instruction: str | None, bare: str) -> None:
    assert bare_query(query, instruction) == bare
