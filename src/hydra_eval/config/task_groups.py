"""A group becomes its tasks: members looked up, what the group changes in them merged in.

Semantics: lm-eval 0.4.13, `lm_eval.tasks._factory`. A change is by top-level key. The strongest comes first: the
member's own mapping, what the group above hands down, the group file's extra keys, the task's file. Two repairs of what
does not load there: a mapping may name a group or a tag under `task`, and an inline task may `include` a base.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

from hydra_eval.config.task_config import fill_defaults, shared_key, task_key
from hydra_eval.config.task_files import table_contents
from hydra_eval.config.task_index import Entry, TaskIndex
from hydra_eval.config.task_names import Named, find, why_unknown
from hydra_eval.config.task_yaml import read_raw, read_task_yaml, with_includes
from hydra_eval.errors import UserError

GROUP_KEYS = ("group", "group_alias", "task", "aggregate_metric_list", "metadata")
"""Keys of a group itself; its other keys are handed down to its tasks."""
ROW_KEYS = ("group_alias", "aggregate_metric_list", "metadata")
"""Those of them that a group above may replace."""
SHOWN_ONLY = ("task_alias", "tag")
"""Keys that change nothing in what is computed."""
PLAIN_MEAN: Mapping[str, Any] = {"aggregate_metric_list": [{"metric": "*", "weight_by_size": False}]}
"""Every metric's mean over tasks, whatever their sizes."""
HAS_DATA = ("dataset_path", "custom_dataset", "class")
"""One of these makes a mapping with an unknown name a task of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Handed:
    """What groups change in the tasks below them."""

    keys: Mapping[str, Any] = field(default_factory=dict)
    origin: tuple[str, ...] = ()
    """The groups from the outermost that changes anything down to the innermost."""

    def without(self, names: Iterable[str]) -> Handed:
        return Handed(keys={key: value for key, value in self.keys.items() if key not in names}, origin=self.origin)

    def through(self, group: str, weaker: Mapping[str, Any]) -> Handed:
        """The same one group further down, which adds keys of its own."""
        keys = {**weaker, **self.keys}
        return Handed(keys=keys, origin=(*self.origin, group) if _matters(keys) else ())

    def at_member(self, group: str, stronger: Mapping[str, Any]) -> Handed:
        """The same for one member of `group`, whose mapping adds keys of its own."""
        keys = {**self.keys, **stronger}
        return Handed(keys=keys, origin=self.origin or ((group,) if _matters(keys) else ()))


NO_KEYS: Mapping[str, Any] = MappingProxyType({})
NOTHING = Handed()


Leaves: TypeAlias = dict[str, str]
"""Key → name of tasks, in order."""


@dataclass(slots=True, kw_only=True)
class _Group:
    """A group while its members are looked up."""

    name: str
    path: Path
    handed: Handed
    parents: tuple[str, ...]
    """Groups above it, and itself."""
    members: list[str] = field(default_factory=list)
    """Keys of tasks and names of groups."""
    leaves: Leaves = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)

    def take_task(self, leaf: Leaves, alias: str | None) -> None:
        (key,) = leaf
        self.members.append(key)
        self.leaves |= leaf
        if alias is not None:
            self.aliases[key] = alias

    def take_group(self, name: str, leaves: Leaves) -> None:
        self.members.append(name)
        self.leaves |= leaves


class Expansion:
    """Collects the tasks and groups below what one SPEC names."""

    def __init__(self, index: TaskIndex) -> None:
        self.index = index
        self.tasks: dict[str, dict[str, Any]] = {}
        self.groups: dict[str, dict[str, Any]] = {}
        self._read_base = cache(read_raw)
        self._table = cache(table_contents)

    def add(self, named: Named) -> Leaves:
        """Add everything below a name; a prefix gets a row too, the plain mean of its tasks."""
        leaves: Leaves = {}
        for entry in named.entries:
            leaves |= self._group_file(entry) if entry.kind == "group" else self._task_file(entry, Handed())
        if named.prefix is not None:
            row = f"{named.prefix}:_average"  # lighteval's name; the prefix itself may be a task's
            self.groups[row] = _record(PLAIN_MEAN, members=list(leaves), leaves=leaves, aliases={})
        return leaves

    def _read(self, path: Path) -> dict[str, Any]:
        return read_task_yaml(path, read_base=self._read_base)

    def _task_file(self, entry: Entry, handed: Handed) -> Leaves:
        if entry.kind == "table":
            content = self._table(entry.module or str(entry.path))[entry.name]
        else:
            content = self._read(entry.path)
        return self._task({**content, "task": entry.name}, entry.path, handed, key=self._plain_key(entry))

    def _plain_key(self, entry: Entry) -> str:
        """A file outside the task folders does not take the key of the task that a folder has by its name."""
        known = self.index.entries.get(entry.name)
        is_other = known is not None and known.path != entry.path and known.path.resolve() != entry.path.resolve()
        return task_key(f"{entry.path.parent.name}__{entry.name}" if is_other else entry.name)

    def _task(self, content: Mapping[str, Any], path: Path, handed: Handed, *, key: str) -> Leaves:
        """Add one task: under its own key, or, where a group changes what is computed, under one with the group's."""
        name = content["task"]
        filled = fill_defaults(content, path=path)
        changed = fill_defaults({**content, **handed.keys}, path=path) if handed.keys else filled
        if _computed(changed) != _computed(filled):
            key, filled = task_key("__".join((*_short(handed.origin), name))), changed
        first, number = key, 1
        while self.tasks.setdefault(key, filled) != filled:
            if self.tasks[key]["task"] != name:
                raise UserError(f"{path}: {shared_key(key, self.tasks[key]['task'], name)}")
            number += 1
            key = f"{first}_{number}"
        return {key: name}

    def _group_file(
        self, entry: Entry, handed: Handed = NOTHING, *, row: Mapping[str, Any] = NO_KEYS, parents: tuple[str, ...] = ()
    ) -> Leaves:
        if entry.name in parents:
            circle = " -> ".join((*parents, entry.name))
            raise UserError(f"{entry.path}: the group '{entry.name}' contains itself: {circle}.")
        content = {**self._read(entry.path), **row}
        return self._group(_Group(name=entry.name, path=entry.path, handed=handed, parents=parents), content)

    def _group(self, group: _Group, content: Mapping[str, Any]) -> Leaves:
        own = {key: value for key, value in content.items() if key not in GROUP_KEYS}
        group.handed = group.handed.through(group.name, own)
        group.parents = (*group.parents, group.name)
        for item in _items(content, group):
            self._member(item, group)
        self.groups[group.name] = _record(content, members=group.members, leaves=group.leaves, aliases=group.aliases)
        return group.leaves

    def _member(self, item: Any, group: _Group) -> None:
        """Add one item of the list under a group's `task`."""
        kind, name, own = _taken_apart(item, group)
        named = find(name, self.index)
        if kind == "group" and "task" in own:
            self._inline_group(name, own, group)
        elif named is None:
            self._inline_task(name, own, group)
        else:
            handed = group.handed.at_member(group.name, own)
            for entry in named.entries:
                self._known_member(entry, handed, own, group)

    def _known_member(self, entry: Entry, handed: Handed, own: Mapping[str, Any], group: _Group) -> None:
        if entry.kind != "group":
            group.take_task(self._task_file(entry, handed), handed.keys.get("task_alias"))
            return
        row = {key: own[key] for key in ROW_KEYS if key in own}
        group.take_group(entry.name, self._group_file(entry, handed.without(row), row=row, parents=group.parents))

    def _inline_group(self, name: str, own: Mapping[str, Any], group: _Group) -> None:
        known = self.index.entries.get(name)
        if known is not None and known.kind == "group":
            raise UserError(
                f"{group.path}: the member '{name}' lists tasks, but {known.path} defines a group of that name; "
                "call it otherwise."
            )
        inner = _Group(name=f"{group.name}::{name}", path=group.path, handed=group.handed, parents=group.parents)
        group.take_group(inner.name, self._group(inner, own))

    def _inline_task(self, name: str, own: Mapping[str, Any], group: _Group) -> None:
        """A task whose whole definition stands in the group's file."""
        base = with_includes({"include": own.get("include")}, group.path.resolve())
        content = {**base, **group.handed.keys, **own}
        content.pop("include", None)
        if not own or not any(content.get(key) for key in HAS_DATA):
            raise UserError(
                f"{group.path}: a member of the group '{group.name}': {why_unknown(name, self.index)} "
                "(To define a task here, give it a dataset_path.)"
            )
        full = f"{group.name}::{name}"
        leaf = self._task({**content, "task": full}, group.path, NOTHING, key=task_key(full))
        group.take_task(leaf, content.get("task_alias"))


def _items(content: Mapping[str, Any], group: _Group) -> list[Any]:
    listed = content.get("task")
    items = listed if isinstance(listed, list) else [] if listed is None else [listed]
    if not items:
        raise UserError(f"{group.path}: the group '{group.name}' has no members; list their names under 'task'.")
    return items


def _taken_apart(item: Any, group: _Group) -> tuple[str, str, dict[str, Any]]:
    """(task or group, name, further keys) of one item."""
    own = dict(item) if isinstance(item, Mapping) else {"task": item}
    kind = "group" if "group" in own else "task"
    name = own.pop(kind, None)
    if not isinstance(name, str):
        shown = textwrap.shorten(repr(item if name is None else name), 200, placeholder=" …")
        raise UserError(
            f"{group.path}: a member of the group '{group.name}' must be a name, or a mapping that has one under "
            f"'task' or 'group', but one is {shown}."
        )
    return kind, name, own


def _record(
    content: Mapping[str, Any], *, members: Sequence[str], leaves: Leaves, aliases: Mapping[str, str]
) -> dict[str, Any]:
    """What the run's config says of a group: tasks go by their keys."""
    return {
        "alias": content.get("group_alias"),
        "members": list(dict.fromkeys(members)),
        "tasks": list(leaves),
        "aliases": dict(aliases),
        "aggregate_metric_list": content.get("aggregate_metric_list"),
        "metadata": content.get("metadata"),
    }


def _matters(keys: Mapping[str, Any]) -> bool:
    return any(key not in SHOWN_ONLY for key in keys)


def _computed(content: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in content.items() if key not in SHOWN_ONLY}


def _short(origin: tuple[str, ...]) -> list[str]:
    """The groups without those that the name of the next one begins with (`parent`, `parent::inline`)."""
    following = (*origin[1:], "")
    return [name for name, inner in zip(origin, following, strict=True) if not inner.startswith(f"{name}::")]
