r"""Hooks for agieval_math.

{"query": "Q: Half of $\\frac{1}{2}$?\nA: The answer is", "answer": "\\frac{1}{4}"}

Both sides are read and spelt as in lm-eval 0.4.13, after the code published with AGIEval.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hydra_eval.config.functions import resolve_function

MATH = "!function ../hendrycks_math/utils."
boxed = resolve_function(f"{MATH}boxed", where=__file__)
one_spelling = resolve_function(f"{MATH}one_spelling", where=__file__)
UnreadableError = resolve_function(f"{MATH}UnreadableError", where=__file__)

IN_DOLLARS = re.compile(r"\$(.*)\$")
NUMBER = re.compile(r"\$?\d+(?:\.\d+)?(?!\w)")
SLASH = "\0"
"""Stands for a slash while the other rules are at work: here one that is no fraction of whole numbers stays."""
WHOLE_NUMBERS = re.compile(r"^(0|-?[1-9][0-9]*)/(0|-?[1-9][0-9]*)$")


def score_reply(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, int]:
    return {"acc": int(_is_same(value(results[0]), value(doc["answer"])))}


def value(text: str) -> str | None:
    """The answer in a text: what it boxes, has in dollars or behind an equals sign, or its last number."""
    if r"\boxed" in text:
        rest = text.rpartition(r"\boxed")[2]
        inner = boxed(rf"\boxed{rest}") if rest.startswith("{") else None
        return inner and _right_side(inner)
    formulas = IN_DOLLARS.findall(text)
    if formulas and (right := _right_side(formulas[-1])):
        return right
    if "=" in text:
        return _right_side(text).rstrip(".").partition(r"\n")[0]
    numbers = NUMBER.findall(text)
    return numbers[-1] if numbers else None


def _right_side(text: str) -> str:
    _, equals, right = text.rpartition("=")
    return right.lstrip(" ") if equals else text


def _is_same(one: str | None, other: str | None) -> bool:
    """Equal once both have one spelling; where that fails, or there is nothing to spell, equal as they stand."""
    if one is None or other is None:
        return one == other
    try:
        return _spelt(one) == _spelt(other)
    except UnreadableError:
        return one == other


def _spelt(text: str) -> str:
    spelt = one_spelling(text.replace("/", SLASH)).replace(SLASH, "/")
    return WHOLE_NUMBERS.sub(r"\\frac{\1}{\2}", spelt)
