"""Text with its white space made visible, and token ids with the scored ones marked."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

SIGNS = str.maketrans({" ": "·", "\t": "⇥", "\r": "␍", "\u00a0": "⍽"})
SCORED = ("⟦", "⟧")
WIDTH = 110


def visible(text: str) -> str:
    """Blanks as `·`, tabs as `⇥`; a line end is shown as `⏎` and kept."""
    return text.translate(SIGNS).replace("\n", "⏎\n")


def marked_ids(context: Sequence[int], scored: Sequence[int]) -> str:
    """All ids on wrapped lines, the scored ones in brackets."""
    ids = " ".join(map(str, context))
    tail = f"{SCORED[0]}{' '.join(map(str, scored))}{SCORED[1]}" if scored else ""
    return textwrap.fill(f"{ids} {tail}".strip(), WIDTH, break_long_words=False)


def pieces(ids: Sequence[int], tokenizer: Any) -> str:
    """`id=text` of each token."""
    return "  ".join(f"{token}={_one_line(str(tokenizer.decode([token])))}" for token in ids)


def _one_line(text: str) -> str:
    return visible(text).replace("\n", "")


def head_and_tail(lines: Sequence[str], most: int | None) -> list[str]:
    """At most so many lines, half of them from each end, with a line between them that counts the rest."""
    if most is None or len(lines) <= most:
        return list(lines)
    head = most // 2
    tail = most - head
    return [*lines[:head], f"… {len(lines) - most} lines left out …", *lines[len(lines) - tail :]]
