"""Where the rows of a task come from, with every path resolved: what is loaded once, however many tasks want it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One thing to read: a builder's files, a folder, a repository of the hub."""

    path: str
    """First argument of `datasets.load_dataset`; a folder where `is_saved`."""
    name: str | None = None
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    split: str | None = None
    """The split that its rows are; None where the part itself says which it has."""
    is_saved: bool = False
    """Written by `save_to_disk`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A data set as it will be read."""

    kind: str
    """root, local, url, hub, function or class."""
    title: str
    """How messages name it."""
    where: str
    """The file of a task that wants it."""
    parts: tuple[Part, ...] = ()
    path: str | None = None
    name: str | None = None
    revision: str | None = None
    """As pinned by the task."""
    heads: Mapping[str, int | None] | None = None
    """Streamed: the splits to read, and how many rows of each (None: all). None: everything is loaded."""
    make: Callable[[], Mapping[str, Any]] | None = None
    """A function of the task's own that gives split → rows."""
    owner: str | None = None
    """The one task that `make` belongs to."""

    @property
    def key(self) -> str:
        """Equal for equal data: the same parts, or the same task's own function."""
        if self.make is not None:
            return f"function of {self.owner} in {self.where}"
        parts = [[part.path, part.name, part.kwargs, part.split, part.is_saved] for part in self.parts]
        return json.dumps([parts, self.heads], sort_keys=True, default=repr)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A data set that has been read."""

    splits: Mapping[str, Any]
    """Split → `datasets.Dataset`, or a sequence of rows."""
    commit: str | None = None
    """The hub's commit that the rows come from, where known."""
    cut: frozenset[str] = frozenset()
    """Splits of a stream that were not read to their end."""
