"""Takes what a model thought aloud out of its reply."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hydra_eval.errors import UserError
from hydra_eval.filters.base import Filter
from hydra_eval.filters.replies import each_text

UNCLOSED = ("keep", "empty")


def strip_reasoning(
    *,
    start: str = "<think>",
    end: str = "</think>",
    pairs: Sequence[Sequence[str]] | None = None,
    unclosed: str = "keep",
) -> Filter:
    """Drop what stands from `start` to `end`, both included, and the white space after it.

    An `end` without a `start` closes what the prompt opened: everything before it goes. A `start` that no `end` follows
    is reasoning that met the limit of length: `unclosed=keep` leaves it, `empty` drops it to the end of the reply.
    Of nested reasoning all goes. `pairs` gives several `[start, end]` in place of the one, taken out in that order.
    """
    tags = _tags([(start, end)] if pairs is None else pairs)
    if unclosed not in UNCLOSED:
        raise UserError(f"unclosed={unclosed!r} must be one of: {', '.join(UNCLOSED)}")

    def strip(reply: str) -> str:
        for opening, closing in tags:
            reply = _without(reply, opening, closing, drops_unclosed=unclosed == "empty")
        return reply

    return each_text("strip_reasoning", strip)


def _without(reply: str, start: str, end: str, *, drops_unclosed: bool) -> str:
    while (closed := reply.find(end)) >= 0:
        opened = max(reply.rfind(start, 0, closed), 0)
        reply = reply[:opened] + reply[closed + len(end) :].lstrip()
    return reply.partition(start)[0] if drops_unclosed else reply


def _tags(pairs: Any) -> list[tuple[str, str]]:
    is_list = isinstance(pairs, list | tuple) and all(isinstance(pair, list | tuple) for pair in pairs)
    tags = [tuple(pair) for pair in pairs] if is_list else []
    if not tags or not all(len(pair) == 2 and all(isinstance(tag, str) and tag for tag in pair) for pair in tags):
        raise UserError(f"pairs={pairs!r} must be a list of [start, end], two texts that are not empty")
    return [(start, end) for start, end in tags]
