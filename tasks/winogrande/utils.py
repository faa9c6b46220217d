"""Hooks for sentences with a blank.

{"sentence": "Mina watered the fern before the cactus, since the _ had begun to droop.",
 "option1": "fern", "option2": "cactus", "answer": "1"}
"""

from __future__ import annotations

from collections.abc import Mapping

BLANK = "_"


def right_option(doc: Mapping[str, str]) -> int:
    """Index of the right context. A whole number here tells the harness that the contexts are the choices."""
    return ("1", "2").index(doc["answer"])


def filled_openings(doc: Mapping[str, str]) -> list[str]:
    """The sentence up to the blank, closed with either option: one context per choice."""
    opening, _, _ = doc["sentence"].partition(BLANK)
    return [opening + doc["option1"], opening + doc["option2"]]


def ending(doc: Mapping[str, str]) -> str:
    """What follows the blank: scored after each of the contexts."""
    _, _, rest = doc["sentence"].partition(BLANK)
    return rest.strip()
