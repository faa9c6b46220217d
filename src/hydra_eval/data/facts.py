"""What the results file says about a task's data."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

FLOATING = "floating"
"""The revision of a hub data set that no task pinned: it may hold other rows tomorrow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitFacts:
    """Rows of one split on their way through `process_docs`."""

    split: str
    read: int
    kept: int
    dropped: int
    whole: bool = True
    """False where a streamed split was not read to its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFacts:
    """Where a task's documents came from, and how many of them are left at each step."""

    source: str
    """root (below `data.root`), local (files of the task), url, hub, function (`custom_dataset`), or class: a Python
    class that loads by itself."""
    path: str | None
    name: str | None
    revision: str | None
    """As the task pins it; `floating` where it pins none; None where the hub was not asked."""
    commit: str | None
    """The hub's commit that the rows come from, where known."""
    trust_remote_code: bool
    splits: tuple[SplitFacts, ...]
    """Of the documents; none for a task that reads its rows by itself."""
    pool: tuple[SplitFacts, ...]
    """Of the examples, where there are any from the data set."""
    shuffle_seed: int | None
    documents: int
    """Before any choice."""
    duplicates: int | None
    """Documents left out by `data.dedupe`; None where it is off."""
    chosen_by: str | None
    """limit, sample_ids or subset; None where all are evaluated."""
    subset: Mapping[str, Any] | None
    """n, seed and stratify of a seeded choice."""
    evaluated: int
    fingerprint: str
    """SHA-256 over the rows that are evaluated, in order."""

    @property
    def is_partial(self) -> bool:
        """Not every document of the task is evaluated; its duplicates do not count."""
        return not all(split.whole for split in self.splits) or self.evaluated + (self.duplicates or 0) < self.documents


def fingerprint(rows: Iterable[Mapping[str, Any]]) -> str:
    """A hash of the rows' content, the same in every process and on every machine."""
    found = hashlib.sha256()
    for row in rows:
        found.update(_text(row).encode("utf-8", "backslashreplace") + b"\n")
    return found.hexdigest()


def _text(value: Any) -> str:
    try:
        return json.dumps(value, sort_keys=True, ensure_ascii=False, default=_plain)
    except TypeError:
        # Keys that JSON has not, or that have no order.
        return json.dumps(_by_text(value), ensure_ascii=False, default=_plain)


def _by_text(value: Any) -> Any:
    """Mappings as lists of pairs, by the text of their keys."""
    if isinstance(value, Mapping):
        return sorted(([repr(key), _by_text(inner)] for key, inner in value.items()), key=lambda pair: pair[0])
    return [_by_text(inner) for inner in value] if isinstance(value, list | tuple) else value


def _plain(value: Any) -> Any:
    """What JSON does not know: records by their fields, sets in order, bytes and what has them (images) by a hash."""
    if is_dataclass(value):
        return {known.name: getattr(value, known.name) for known in fields(value)}
    if isinstance(value, set | frozenset):
        return sorted(map(repr, value))
    as_bytes = value if isinstance(value, bytes) else value.tobytes() if hasattr(value, "tobytes") else None
    if as_bytes is not None:
        return hashlib.sha256(as_bytes).hexdigest()
    text = repr(value)
    return type(value).__qualname__ if " at 0x" in text else text
