"""A short text that a regular expression matches."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

PICKS = {"CATEGORY_DIGIT": "4", "CATEGORY_SPACE": " ", "CATEGORY_WORD": "w"}
PICKS |= {"CATEGORY_NOT_DIGIT": "n", "CATEGORY_NOT_SPACE": "s", "CATEGORY_NOT_WORD": "-"}


def example(pattern: str) -> str:
    """Built from the parsed pattern; look-around is passed over, so that rare patterns may not match."""
    groups: dict[int, str] = {}
    return "".join(_part(part, groups) for part in re._parser.parse(pattern))  # type: ignore[attr-defined]


def _part(part: tuple[Any, Any], groups: dict[int, str]) -> str:
    make = MAKERS.get(str(part[0]))
    return make(part[1], groups) if make else ""


def _repeat(value: Any, groups: dict[int, str]) -> str:
    least, most, inner = value
    return "".join(_part(part, groups) for part in inner) * max(least, min(int(most), 1))


def _group(value: Any, groups: dict[int, str]) -> str:
    number, *_, inner = value
    text = "".join(_part(part, groups) for part in inner)
    if number is not None:
        groups[number] = text
    return text


def _branch(value: Any, groups: dict[int, str]) -> str:
    return "".join(_part(part, groups) for part in value[1][0])


def _one_of(value: Any, groups: dict[int, str]) -> str:
    kind, what = value[0]
    if str(kind) == "NEGATE":
        return next((letter for letter in "x7 -~" if not any(_covers(part, ord(letter)) for part in value[1:])), "é")
    if str(kind) == "RANGE":
        return chr(what[0])
    return PICKS[str(what)] if str(kind) == "CATEGORY" else chr(what)


def _covers(part: tuple[Any, Any], letter: int) -> bool:
    kind, what = part
    return what[0] <= letter <= what[1] if str(kind) == "RANGE" else what == letter


MAKERS: dict[str, Callable[[Any, dict[int, str]], str]] = {
    "LITERAL": lambda value, groups: chr(value),
    "NOT_LITERAL": lambda value, groups: "x" if value != ord("x") else "y",
    "ANY": lambda value, groups: "z",
    "IN": _one_of,
    "MAX_REPEAT": _repeat,
    "MIN_REPEAT": _repeat,
    "POSSESSIVE_REPEAT": _repeat,
    "SUBPATTERN": _group,
    "BRANCH": _branch,
    "GROUPREF": lambda value, groups: groups.get(value, ""),
}
"""Kind of a part, as `re` names it → how to write one."""
