"""The reasoning of a reply, apart from its answer.

A marker ends the reasoning: a token's id, or a text, which may lie across tokens and be a special token. What counts as
the answer is lm-eval 0.4.13's: what follows the last marker, without leading blanks; all of a reply that has none.
No torch.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from hydra_eval.errors import UserError

Marker: TypeAlias = str | int
Decode: TypeAlias = Callable[[Sequence[int]], str]


class Parted(NamedTuple):
    """A reply's two parts."""

    reasoning: str | None
    """Up to the last marker and with it, special tokens written out; None: there is none."""
    answer: str


def marker_of(given: Any) -> Marker | None:
    """`model.think_end_token`; as in lm-eval, digits are an id."""
    return int(given) if isinstance(given, str) and given.isdigit() else given


def check_marker(given: Any, tokens: int) -> None:
    """UserError for the id of a token that the model does not have."""
    marker = marker_of(given)
    if isinstance(marker, int) and marker >= tokens:
        raise UserError(
            f"model.think_end_token={given}: the model has {tokens} tokens, so ids end at {tokens - 1}. "
            "Give a token's id, or the text that ends the reasoning."
        )


def answer_so_far(ids: Sequence[int], marker: Marker, decode: Decode) -> str | None:
    """The text after the first marker, without leading blanks; None where it has not come. `decode` keeps specials."""
    if isinstance(marker, int):
        return decode(ids[list(ids).index(marker) + 1 :]).lstrip() if marker in ids else None
    _, found, after = decode(ids).partition(marker)
    return after.lstrip() if found else None


def part_reply(ids: Sequence[int], marker: Marker | None, decode: Decode, plain: Decode) -> Parted:
    """`decode` keeps special tokens, `plain` leaves them out."""
    if marker is None:
        return Parted(None, plain(ids))
    count, tail = _end_of_reasoning(ids, marker, decode)
    if not count:
        return Parted(None, plain(ids).lstrip())
    return Parted(decode(ids[:count]).removesuffix(tail), (tail + plain(ids[count:])).lstrip())


def _end_of_reasoning(ids: Sequence[int], marker: Marker, decode: Decode) -> tuple[int, str]:
    """(tokens up to the end of the last marker, what the last of them says beyond it); 0 tokens: there is none."""
    if isinstance(marker, int):
        return (len(ids) - list(ids)[::-1].index(marker), "") if marker in ids else (0, "")
    times = decode(ids).count(marker)
    if not times:
        return 0, ""
    count = bisect_left(range(len(ids)), times, key=lambda count: decode(ids[:count]).count(marker))
    return count, decode(ids[:count]).split(marker)[-1]
