"""Which names exist: one index over every task folder, user folders first and the bundled shelf last."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from hydra_eval.config.task_yaml import names_of, read_raw
from hydra_eval.errors import UserError

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One name that `task=` knows."""

    name: str
    kind: str
    """task or group."""
    path: Path
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskIndex:
    """Every name of every folder, by name; broken files by path."""

    entries: dict[str, Entry]
    broken: dict[Path, str] = field(default_factory=dict)
    """File → why it could not be read."""
    shadowed: dict[str, tuple[Path, Path]] = field(default_factory=dict)
    """Name → (the user's file that counts, the shelf's file that does not)."""


@lru_cache(maxsize=8)
def task_index(folders: tuple[Path, ...]) -> TaskIndex:
    """Index `folders`, the last of which is the shelf. Imports no task code.

    Raises UserError for a name that two user folders both define.
    """
    index = TaskIndex(entries={})
    for number, folder in enumerate(folders):
        found = _index_folder(folder, index.broken)
        _merge(index, found, is_shelf=number == len(folders) - 1)
    return index


def _merge(index: TaskIndex, found: Sequence[Entry], *, is_shelf: bool) -> None:
    for entry in found:
        taken = index.entries.get(entry.name)
        if taken is None:
            index.entries[entry.name] = entry
        elif is_shelf and taken.path != entry.path:
            index.shadowed[entry.name] = (taken.path, entry.path)
        elif taken.path != entry.path:
            raise UserError(f"The name '{entry.name}' is defined twice: in {taken.path} and in {entry.path}.")


def _index_folder(folder: Path, broken: dict[Path, str]) -> list[Entry]:
    entries: dict[str, Entry] = {}
    for path in sorted(folder.rglob("*.yaml")):
        try:
            content = read_raw(path)
            tags = _tags(content.get("tag"), path)
        except UserError as error:
            broken[path] = str(error)
            continue
        if (named := names_of(content)) is None:
            continue
        kind, name = named
        entry = Entry(name=name, kind=kind, path=path, tags=tags)
        if name in entries:
            log.warning("%s: the name '%s' is already taken by %s, which counts.", path, name, entries[name].path)
        entries.setdefault(name, entry)
    return list(entries.values())


def _tags(value: Any, path: Path) -> tuple[str, ...]:
    tags = [] if value is None else value if isinstance(value, list) else [value]
    if not all(isinstance(tag, str) for tag in tags):
        raise UserError(f"{path}: tag={value!r} must be a name or a list of names.")
    return tuple(tags)
