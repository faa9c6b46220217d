"""Which names exist: one index over every task folder, user folders first and the bundled shelf last.

Nothing is imported and no data is looked at. A tag belongs to the tasks that carry it, their own or an included one, in
whatever folder they lie.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from hydra_eval.config.task_yaml import Read, names_of, read_raw, read_task_yaml
from hydra_eval.errors import UserError

NOT_TASKS = {"__pycache__", ".ipynb_checkpoints"}
"""Folders that hold no task files."""
TABLE = b"TASKS_TABLE"
"""In the text of every Python file that holds tasks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One name that `task=` knows."""

    name: str
    kind: str
    """task, class (a Python class with a YAML), table (an entry of a TASKS_TABLE) or group."""
    path: Path
    tags: tuple[str, ...] = ()
    module: str | None = None
    """For a table: the dotted name under which its module was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskIndex:
    """Every name of every folder, by name; broken files by path."""

    entries: dict[str, Entry]
    tags: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Tag → its tasks, sorted by name."""
    prefixes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """`mmlu` → the tasks called `mmlu:…`, sorted by name."""
    tables: tuple[Path, ...] = ()
    """Python files with a TASKS_TABLE; it may hold more names than can be read without importing it."""
    broken: dict[Path, str] = field(default_factory=dict)
    """File → why it could not be read."""
    shadowed: dict[str, tuple[Path, Path]] = field(default_factory=dict)
    """Name → (the user's file that counts, the shelf's file that does not)."""
    doubled: dict[str, tuple[Path, Path]] = field(default_factory=dict)
    """Name → (the file of a folder that counts, the next of the same folder that does not)."""


@lru_cache(maxsize=8)
def task_index(folders: tuple[Path, ...]) -> TaskIndex:
    """Index `folders`, the last of which is the shelf. Imports no task code.

    Raises UserError for a name that two user folders both define.
    """
    index = TaskIndex(entries={})
    tables: list[Path] = []
    for number, folder in enumerate(folders):
        found = [*_yaml_entries(folder, index.broken), *_table_entries(folder, index.broken, tables)]
        _merge(index, _first_of_each(found, index.doubled), is_shelf=number == len(folders) - 1)
    return TaskIndex(
        entries=index.entries,
        tags=_tags_of(index.entries.values()),
        prefixes=prefixes_of(index.entries.values()),
        tables=tuple(tables),
        broken=index.broken,
        shadowed=index.shadowed,
        doubled=index.doubled,
    )


def _merge(index: TaskIndex, found: Sequence[Entry], *, is_shelf: bool) -> None:
    for entry in found:
        taken = index.entries.get(entry.name)
        if taken is None:
            index.entries[entry.name] = entry
        elif is_shelf and taken.path != entry.path:
            index.shadowed[entry.name] = (taken.path, entry.path)
        elif taken.path != entry.path:
            raise UserError(f"The name '{entry.name}' is defined twice: in {taken.path} and in {entry.path}.")


def _first_of_each(found: Sequence[Entry], doubled: dict[str, tuple[Path, Path]]) -> list[Entry]:
    """Of two files of one folder that define the same name the first counts, as in lm-eval."""
    entries: dict[str, Entry] = {}
    for entry in found:
        first = entries.setdefault(entry.name, entry)
        if first is not entry:
            doubled.setdefault(entry.name, (first.path, entry.path))
    return list(entries.values())


def _yaml_entries(folder: Path, broken: dict[Path, str]) -> Iterator[Entry]:
    read_base = cache(read_raw)  # a base serves up to thousands of tasks
    for path in _files(folder, "*.yaml"):
        try:
            entry = entry_of(path, read_base=read_base)
        except UserError as error:
            broken[path] = str(error)
            continue
        if entry is not None:
            yield entry


def entry_of(path: Path, *, read_base: Read = read_raw) -> Entry | None:
    """What one YAML file defines; None for a base to include. Raises UserError where it cannot be read."""
    content = read_task_yaml(path, read_base=read_base)
    tags = _tags(content.get("tag"), path)
    if (named := names_of(content)) is None:
        return None
    kind, name = named
    return Entry(name=name, kind=kind, path=path, tags=tags)


def _table_entries(folder: Path, broken: dict[Path, str], tables: list[Path]) -> Iterator[Entry]:
    for path in _files(folder, "*.py"):
        if TABLE not in path.read_bytes():
            continue
        from hydra_eval.tables.names import static_names

        try:
            names = static_names(path)
        except UserError as error:
            broken[path] = str(error)
            continue
        if names is not None:
            tables.append(path)
            yield from (Entry(name=name, kind="table", path=path) for name in names)


def _files(folder: Path, pattern: str) -> list[Path]:
    found = (path for path in folder.rglob(pattern) if NOT_TASKS.isdisjoint(path.parts))
    return sorted(found, key=lambda path: path.as_posix())


def _tags(value: Any, path: Path) -> tuple[str, ...]:
    tags = value if isinstance(value, list) else [value] if value else []
    if not all(isinstance(tag, str) for tag in tags):
        raise UserError(f"{path}: tag={value!r} must be a name or a list of names.")
    return tuple(tags)


def prefixes_of(entries: Iterable[Entry]) -> dict[str, tuple[str, ...]]:
    """A name with several colons has several prefixes; a group is no member of any."""
    found: dict[str, list[str]] = {}
    for entry in entries:
        parts = entry.name.split(":") if entry.kind != "group" else []
        for count in range(1, len(parts)):
            found.setdefault(":".join(parts[:count]), []).append(entry.name)
    return {prefix: tuple(sorted(names)) for prefix, names in found.items()}


def _tags_of(entries: Iterable[Entry]) -> dict[str, tuple[str, ...]]:
    """A group's `tag` is one that it hands down, so only tasks count."""
    found: dict[str, set[str]] = {}
    for entry in entries:
        for tag in entry.tags if entry.kind != "group" else ():
            found.setdefault(tag, set()).add(entry.name)
    return {tag: tuple(sorted(names)) for tag, names in sorted(found.items())}
