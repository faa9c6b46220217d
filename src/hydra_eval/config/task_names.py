"""What a name stands for: one task, several, or a group.

In this order: `tag:NAME`; the name of a task or group (a task with others called `name:…` stands for all of them); a
tag; a prefix (`mmlu` for all `mmlu:…`); a glob over tasks, groups and tags; a file or a module (`task_files`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from fnmatch import fnmatchcase
from pathlib import Path

from hydra_eval.config.task_index import Entry, TaskIndex
from hydra_eval.errors import did_you_mean, known_names

TAG = "tag:"
NEAREST = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """The tasks and groups that a name stands for, in order."""

    entries: tuple[Entry, ...]
    prefix: str | None = None
    """A prefix, whose tasks have a row of their own together."""
    is_open: bool = False
    """A prefix or a glob: more names may match than the index knows without importing."""


def find(name: str, index: TaskIndex) -> Named | None:
    """What the index knows by this name; None where it is nobody's."""
    entry = index.entries.get(name)
    if entry is not None and entry.kind == "group":
        return Named(entries=(entry,))
    if name in index.prefixes:
        below = (index.entries[known] for known in index.prefixes[name])
        return Named(entries=(*([entry] if entry else []), *below), prefix=name, is_open=True)
    if entry is not None:
        return Named(entries=(entry,))
    tag = name.removeprefix(TAG)
    if tag in index.tags:
        return _tagged(tag, index)
    return _globbed(name, index) if is_glob(name) else None


def is_glob(name: str) -> bool:
    return any(letter in name for letter in "*?[")


def _tagged(tag: str, index: TaskIndex) -> Named:
    return Named(entries=tuple(index.entries[name] for name in index.tags[tag]))


def _globbed(pattern: str, index: TaskIndex) -> Named | None:
    matches = sorted(name for name in {*index.entries, *index.tags} if fnmatchcase(name, pattern))
    found = [
        entry
        for name in matches
        for entry in ([index.entries[name]] if name in index.entries else _tagged(name, index).entries)
    ]
    entries = tuple({entry.name: entry for entry in found}.values())
    return Named(entries=entries, is_open=True) if entries else None


def why_unknown(name: str, index: TaskIndex) -> str:
    """Why there is no such task: its file is broken, or the name is nobody's."""
    for path, reason in index.broken.items():
        if name in _names_in(path):
            return reason if str(path) in reason else f"{path}: {reason}"
    if name.startswith(TAG):
        tag = name.removeprefix(TAG)
        return f"unknown tag '{tag}'.{did_you_mean(tag, index.tags, count=NEAREST)} Known: {known_names(index.tags)}."
    known = {*index.entries, *index.tags}
    if is_glob(name):
        return f"no task, group or tag matches '{name}'.{_nearest(name, known)}"
    near = did_you_mean(name, known, count=NEAREST)
    broken = f" Files that cannot be read: {known_names(map(str, index.broken))}." if index.broken else ""
    return f"unknown task '{name}'.{near} Known: {known_names(index.entries)}.{broken}"


def _names_in(path: Path) -> list[str]:
    """Names that a file which is no proper YAML may have been meant to define."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    return [path.stem, *re.findall(r"^(?:task|group):[ \t]*['\"]?([^'\"#\n]+?)['\"]?[ \t]*$", text, flags=re.MULTILINE)]


def _nearest(pattern: str, known: Iterable[str]) -> str:
    """The names whose beginnings are most like the pattern's own letters."""
    letters = re.sub(r"[*?\[\]]", "", pattern)

    def unlike(name: str) -> tuple[float, str]:
        return -SequenceMatcher(None, name[: len(letters)], letters).ratio(), name

    near: Sequence[str] = sorted(known, key=unlike)[:NEAREST]
    return f" Nearest: {', '.join(near)}." if near else ""
