"""What the steps of a pipeline hand on: a list of replies per request, or one value once a step has chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hydra_eval.errors import UserError
from hydra_eval.filters.base import Filter


def as_replies(entry: Any) -> list[Any]:
    """The replies of one entry; a value that a step before has chosen counts as one reply, also when it is text."""
    return list(entry) if isinstance(entry, list | tuple) else [entry]


def each_reply(change: Callable[[Any], Any]) -> Filter:
    """A filter that puts `change(reply)` in every reply's place and keeps lists as lists, values as values."""

    def step(resps: Sequence[Any], docs: Sequence[Mapping[str, Any]]) -> list[Any]:
        return [
            [change(reply) for reply in entry] if isinstance(entry, list | tuple) else change(entry) for entry in resps
        ]

    return step


def each_text(name: str, change: Callable[[str], Any]) -> Filter:
    """`each_reply` for the filter `name`, which is for text alone."""

    def checked(reply: Any) -> Any:
        if not isinstance(reply, str):
            raise UserError(f"filter '{name}' takes text, but was given {reply!r}.")
        return change(reply)

    return each_reply(checked)
