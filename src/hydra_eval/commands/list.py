"""`hydra-eval list`: every name that `task=` knows, without importing any task code."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table

from hydra_eval.commands.languages import language_code, languages_in
from hydra_eval.config.task_folders import task_folders
from hydra_eval.config.task_index import TaskIndex, task_index
from hydra_eval.errors import UserError, counted, did_you_mean, known_names
from hydra_eval.resources import from_here

KINDS = ("task", "class", "table", "group", "tag", "broken")


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One line of the listing."""

    name: str
    kind: str
    """One of `KINDS`; a broken file stands under its path."""
    tags: tuple[str, ...] = ()
    file: Path | None = None
    note: str = ""
    """Tasks of a tag, or why a file is broken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What of the listing is asked for; empty fields let everything through."""

    patterns: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    tag: str | None = None
    language: str | None = None
    folder: Path | None = None
    """Only what is defined by files below it."""

    def check(self, index: TaskIndex) -> None:
        for kind in self.kinds:
            if kind not in KINDS:
                raise UserError(f"--kind {kind}: unknown.{did_you_mean(kind, KINDS)} Known: {', '.join(KINDS)}.")
        if self.tag is not None and self.tag not in index.tags:
            near = did_you_mean(self.tag, index.tags, count=3)
            raise UserError(f"--tag {self.tag}: no task has it.{near} Known: {known_names(index.tags)}.")
        if self.folder is not None and not self.folder.expanduser().exists():
            raise UserError(f"--folder {self.folder}: there is no such folder.")
        if self.language is not None and language_code(self.language) is None:
            raise UserError(f"--lang {self.language}: give an ISO 639 code (de, deu) or an English name (german).")

    def allows(self, listed: Listed) -> bool:
        return (
            (not self.patterns or any(fnmatchcase(listed.name, pattern) for pattern in self.patterns))
            and (not self.kinds or listed.kind in self.kinds)
            and (self.tag is None or self.tag in listed.tags)
            and (self.language is None or language_code(self.language) in languages_in((listed.name, *listed.tags)))
            and (self.folder is None or _lies_below(listed, self.folder))
        )


def present_index() -> TaskIndex:
    """The index of all task folders: `hydra.searchpath`, the environment's, and the bundled shelf."""
    return task_index(tuple(Path(folder) for folder in task_folders().split(os.pathsep)))


def listing(index: TaskIndex, wanted: Wanted) -> list[Listed]:
    """What is asked for, by kind and name. Raises UserError for a kind, tag or language that does not exist."""
    wanted.check(index)
    found = sorted(_everything(index), key=lambda listed: (KINDS.index(listed.kind), listed.name))
    return [listed for listed in found if wanted.allows(listed)]


def _everything(index: TaskIndex) -> Iterator[Listed]:
    for entry in index.entries.values():
        yield Listed(name=entry.name, kind=entry.kind, tags=entry.tags, file=entry.path)
    for tag, tasks in index.tags.items():
        yield Listed(name=tag, kind="tag", tags=(tag,), note=counted(len(tasks), "task"))
    for path, reason in index.broken.items():
        yield Listed(name=str(path), kind="broken", file=path, note=reason)


def _lies_below(listed: Listed, folder: Path) -> bool:
    """A tag has no file: it is everywhere."""
    return listed.file is None or listed.file.is_relative_to(folder.expanduser().resolve())


def as_table(found: Sequence[Listed]) -> Table:
    """One line per name."""
    table = Table(box=box.SIMPLE_HEAD, header_style="bold")
    for column in ("name", "kind", "tags", "file"):
        table.add_column(column, overflow="fold")
    for listed in found:
        tags = listed.note if listed.kind in ("tag", "broken") else ", ".join(listed.tags)
        table.add_row(
            listed.name,
            listed.kind,
            tags,
            "" if listed.file is None else str(from_here(listed.file)),
        )
    return table


def as_json(found: Sequence[Listed]) -> str:
    """Kind → name → tags and file; a tag's tasks are those that carry it."""
    kinds: dict[str, dict[str, Any]] = {}
    for listed in found:
        content: dict[str, Any] = {"file": None if listed.file is None else str(listed.file)}
        content |= {"tags": list(listed.tags)} if listed.kind not in ("tag", "broken") else {"note": listed.note}
        kinds.setdefault(listed.kind, {})[listed.name] = content
    return json.dumps(kinds, ensure_ascii=False, indent=2)


def counts(found: Sequence[Listed]) -> str:
    """`12 tasks, 3 groups, 1 tag`."""
    number = {kind: sum(listed.kind == kind for listed in found) for kind in KINDS}
    names = {"class": "class task", "broken": "broken file", "table": "table task"}
    parts = (f"{count} {names.get(kind, kind)}{'s' * (count > 1)}" for kind, count in number.items() if count)
    return ", ".join(parts) or "nothing"
