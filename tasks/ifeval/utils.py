"""Hooks for prompts whose instructions a program can check.

{"key": 1, "prompt": "Write about lamps in at least 40 words. Use no commas.",
 "instruction_id_list": ["length_constraints:number_words", "punctuation:no_comma"],
 "kwargs": [{"num_words": 40, "relation": "at least"}, {}]}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from hydra_eval.errors import UserError, lookup

from .instructions import CHECKS


def score_reply(doc: Mapping[str, Any], results: list[str]) -> dict[str, Any]:
    """Per instruction and for all of them together: strictly, and loosely, where any trimmed form of the reply does."""
    (reply,) = results
    strict = followed(doc, [reply])
    loose = followed(doc, trimmed(reply))
    return {
        "prompt_level_strict_acc": all(strict),
        "inst_level_strict_acc": strict,
        "prompt_level_loose_acc": all(loose),
        "inst_level_loose_acc": loose,
    }


def share_of_all(values: Sequence[Sequence[bool]]) -> float:
    """Over the instructions of all prompts."""
    verdicts = list(chain.from_iterable(values))
    return sum(verdicts) / len(verdicts)


def trimmed(reply: str) -> list[str]:
    """The reply; without its first line, its last, both; and each of these without asterisks."""
    lines = reply.split("\n")
    cut = ["\n".join(part).strip() for part in (lines[1:], lines[:-1], lines[1:-1])]
    forms = [reply, *cut]
    return forms + [form.replace("*", "") for form in forms]


def followed(doc: Mapping[str, Any], forms: Sequence[str]) -> list[bool]:
    """For each instruction, whether some form of the reply follows it; an empty one follows none."""
    instructions = zip(doc["instruction_id_list"], doc["kwargs"], strict=True)
    return [any(form.strip() and follows(kind, arguments, form) for form in forms) for kind, arguments in instructions]


def follows(kind: str, arguments: Mapping[str, Any], reply: str) -> bool:
    check = lookup(CHECKS, kind, kind="instruction", where="ifeval")
    given = {name: value for name, value in arguments.items() if value is not None}
    try:
        return check(reply, **given)
    except TypeError as error:
        raise UserError(f"ifeval: instruction '{kind}' does not go with {given}: {error}") from error
