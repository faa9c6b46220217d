r"""Finds the answer to a mathematical question: what stands in the last `\boxed{…}`."""

from __future__ import annotations

import re

from hydra_eval.filters.base import Filter
from hydra_eval.filters.extraction import NOT_FOUND
from hydra_eval.filters.replies import each_reply

BOX = re.compile(r"\\(?:boxed|fbox)\s*")
BRACE = re.compile(r"\\[\\{}]|[{}]")
"""A brace, or a backslash with what it takes the meaning from."""
FORMULA = re.compile(r"\$\$(.+?)\$\$|\$(.+?)\$|\\\[(.+?)\\\]|\\\((.+?)\\\)", re.DOTALL)


def boxed(*, fallback: str = NOT_FOUND, strict: bool = False) -> Filter:
    r"""Keep what stands in the last `\boxed{…}` or `\fbox{…}` whose braces balance, without white space around it.

    Where there is none: the last formula between `$`, `$$`, `\[ \]` or `\( \)`; else, and at once with `strict`, the
    fallback.
    """

    def extract(reply: object) -> str:
        text = reply if isinstance(reply, str) else ""
        found = _last_box(text)
        if found is None and not strict:
            found = _last_formula(text)
        return fallback if found is None else found.strip()

    return each_reply(extract)


def _last_box(text: str) -> str | None:
    boxes = (_content(text, match.end()) for match in reversed(list(BOX.finditer(text))))
    return next((box for box in boxes if box is not None), None)


def _content(text: str, start: int) -> str | None:
    r"""From an opening brace at `start` to the one that closes it; without a brace the next word, as in `\boxed 7`."""
    if text[start : start + 1] != "{":
        word = re.match(r"[^\s${}\\]+", text[start:])
        return word.group() if word else None
    depth = 0
    for brace in BRACE.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(brace.group(), 0)
        if depth == 0:
            return text[start + 1 : brace.start()]
    return None


def _last_formula(text: str) -> str | None:
    found = [next(filter(None, match.groups())) for match in FORMULA.finditer(text)]
    return found[-1] if found else None
