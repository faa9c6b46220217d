"""Filters that rewrite every reply."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hydra_eval.errors import UserError
from hydra_eval.filters.base import Filter
from hydra_eval.filters.replies import each_reply, each_text

ENTITY_WORDS = {
    "PER": ("per", "person", "persons", "people"),
    "LOC": ("loc", "location", "country", "counties", "continent", "places"),
    "ORG": ("org", "organization", "company"),
    "DATE": ("date", "time"),
}
"""Label of a named entity → what models call it; lm-eval's list, its spelling `counties` included."""

LABEL_OF = {word: label for label, words in ENTITY_WORDS.items() for word in words}
ENTITY_WORD = re.compile(rf"\b({'|'.join(LABEL_OF)})\s*:")
ENTITIES = re.compile(r"\b(PER|LOC|ORG|DATE):\s*([^$]+)")


def remove_whitespace() -> Filter:
    """Strip both ends."""
    return each_text("remove_whitespace", str.strip)


def lowercase() -> Filter:
    return each_text("lowercase", str.lower)


def uppercase() -> Filter:
    return each_text("uppercase", str.upper)


def map_values(*, mapping_dict: Mapping[Any, Any] | None = None, default_value: Any = None) -> Filter:
    """Look every reply up in `mapping_dict`; `default_value` where it is not there."""
    table = {} if mapping_dict is None else mapping_dict
    if not isinstance(table, Mapping):
        raise UserError(f"mapping_dict={mapping_dict!r} must be a mapping, reply: value")
    return each_reply(lambda reply: table.get(reply, default_value))


def format_span() -> Filter:
    """Rewrite a list of named entities as `per: name $ loc: name`, one entry each, without those called `none`."""
    return each_text("format_span", _entities)


def _entities(reply: str) -> str:
    labelled = ENTITY_WORD.sub(lambda match: f"{LABEL_OF[match[1]]}:", reply.lower())
    spans = labelled.replace("$$", "$").rstrip("$").replace("\n", "$").strip()
    return " $ ".join(
        f"{label.lower()}: {name}"
        for label, names in ENTITIES.findall(spans)
        for name in map(str.strip, names.split(","))
        if name.lower() != "none"
    )
