"""Filters that cut the answer out at a place that the prompt asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hydra_eval.errors import UserError
from hydra_eval.filters.base import Filter
from hydra_eval.filters.extraction import NOT_FOUND
from hydra_eval.filters.replies import each_reply


def after(*, text: str, last: bool = True, fallback: str = NOT_FOUND) -> Filter:
    """Keep what follows `text`, its last occurrence (`last=false`: the first), without white space around it."""
    if not isinstance(text, str) or not text:
        raise UserError(f"text={text!r} must be text that is not empty")

    def cut(reply: Any) -> str:
        place = (reply.rfind(text) if last else reply.find(text)) if isinstance(reply, str) else -1
        return fallback if place < 0 else str(reply[place + len(text) :]).strip()

    return each_reply(cut)


def json_field(*, field: str, fallback: str = NOT_FOUND) -> Filter:
    """Keep one field of the last JSON object in the reply that has it, as text.

    `field` may lead inwards: `answer.value`, `steps.0`. Text stays as it is, other values are written as JSON.
    """
    if not isinstance(field, str) or not field:
        raise UserError(f"field={field!r} must name a field")
    path = field.split(".")

    def pick(reply: Any) -> str:
        found = [_at(value, path) for value in _objects(reply)] if isinstance(reply, str) else []
        values = [value for value in found if value is not None]
        if not values:
            return fallback
        return values[-1] if isinstance(values[-1], str) else json.dumps(values[-1], ensure_ascii=False)

    return each_reply(pick)


def _objects(reply: str) -> Iterator[Any]:
    """Every JSON object in the text that stands in no other, in order."""
    decoder = json.JSONDecoder()
    place = reply.find("{")
    while place >= 0:
        try:
            value, end = decoder.raw_decode(reply, place)
        except (ValueError, RecursionError):
            end = place + 1
        else:
            yield value
        place = reply.find("{", end)


def _at(value: Any, path: list[str]) -> Any:
    for part in path:
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value
