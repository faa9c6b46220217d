"""Serves every task folder as options of the Hydra group `task`.

Whatever is asked for — a task, a group, `name|shots` — the answer has the package `_global_` and the content
`{tasks, groups, selection}`, so that one choice and a list of choices compose to the same shape. The source object
holds nothing but its path, because Hydra composes twice per start and deep-copies its sources.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from hydra.core.object_type import ObjectType
from hydra.errors import ConfigCompositionException
from hydra.plugins.config_source import ConfigResult, ConfigSource
from omegaconf import OmegaConf

from hydra_eval.config.task_config import fill_defaults, shared_key
from hydra_eval.config.task_index import TaskIndex, task_index
from hydra_eval.config.task_yaml import read_task_yaml
from hydra_eval.errors import UserError, did_you_mean, known_names

GROUP = "task"


@dataclass(frozen=True, slots=True)
class Spec:
    """One value of `task=` taken apart."""

    text: str
    name: str
    shots: int | None


class TaskSource(ConfigSource):
    """`tasks://FOLDER[:FOLDER…]`, user folders first, the bundled shelf last."""

    @staticmethod
    def scheme() -> str:
        return "tasks"

    def available(self) -> bool:
        return all(folder.is_dir() for folder in self._folders())

    def is_group(self, config_path: str) -> bool:
        return config_path.strip("/") in ("", GROUP)

    def is_config(self, config_path: str) -> bool:
        # Also for a name nobody knows: `load_config` then names the nearest ones, where Hydra would list all.
        return config_path.startswith(f"{GROUP}/")

    def list(self, config_path: str, results_filter: ObjectType | None) -> list[str]:
        if config_path.strip("/") == "":
            return [] if results_filter is ObjectType.CONFIG else [GROUP]
        if config_path.strip("/") != GROUP or results_filter is ObjectType.GROUP:
            return []
        return sorted(task_index(self._folders()).entries)

    def load_config(self, config_path: str) -> ConfigResult:
        spec = config_path.removeprefix(f"{GROUP}/")
        try:
            content = _escaped(options_for(spec, task_index(self._folders())))
        except UserError as error:
            # Printed by Hydra without a traceback.
            raise ConfigCompositionException(str(error)) from error
        return ConfigResult(
            provider=self.provider,
            path=f"{self.scheme()}://{self.path}",
            config=OmegaConf.create(content),
            header={"package": "_global_"},
        )

    def _folders(self) -> tuple[Path, ...]:
        return tuple(Path(folder) for folder in self.path.split(os.pathsep))


def options_for(text: str, index: TaskIndex) -> dict[str, Any]:
    """What one SPEC adds to the config: its tasks with every key filled, the groups it names, and the selection."""
    spec = parse_spec(text)
    if spec.name not in index.entries:
        raise UserError(f"task={text}: {_unknown(spec.name, index)}")
    tasks: dict[str, Any] = {}
    groups: dict[str, Any] = {}
    members = _collect(spec.name, index, tasks=tasks, groups=groups, parents=())
    selection = {spec.text: {"name": spec.name, "tasks": members, "shots": spec.shots}}
    return {"tasks": tasks, "groups": groups, "selection": selection}


def _unknown(name: str, index: TaskIndex) -> str:
    """Why there is no such task: its file is broken, or the name is nobody's."""
    for path, reason in index.broken.items():
        if path.stem == name:
            return reason
    broken = f" Files that cannot be read: {known_names(map(str, index.broken))}." if index.broken else ""
    near = did_you_mean(name, index.entries, count=3)
    own = "Tasks of your own: hydra.searchpath=[tasks://FOLDER], or HYDRA_EVAL_TASK_PATH=FOLDER."
    return f"unknown task '{name}'.{near} Known: {known_names(index.entries)}.{broken} {own}"


def parse_spec(text: str) -> Spec:
    """`name` or `name|shots`. Raises UserError naming the part that is wrong."""
    parts = text.split("|")
    if len(parts) > 2:
        raise UserError(f"task={text}: write name or name|shots, with one bar at the most.")
    if len(parts) == 1:
        return Spec(text, text, None)
    if not parts[1].isdecimal():
        raise UserError(f"task={text}: '{parts[1]}' after the bar must be a number of shots, 0 or more.")
    return Spec(text, parts[0], int(parts[1]))


def task_key(name: str) -> str:
    """The name with the characters that Hydra's overrides cannot take replaced by `_`."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)


def _collect(
    name: str, index: TaskIndex, *, tasks: dict[str, Any], groups: dict[str, Any], parents: tuple[str, ...]
) -> dict[str, str]:
    """Fill `tasks` and `groups` with everything below `name`; return key → name of its tasks, in order."""
    entry = index.entries[name]
    content = read_task_yaml(entry.path)
    if entry.kind == "task":
        key = task_key(name)
        filled = fill_defaults(content, path=entry.path)
        if tasks.setdefault(key, filled)["task"] != name:
            raise UserError(f"{entry.path}: {shared_key(key, tasks[key]['task'], name)}")
        return {key: name}
    if name in parents:
        raise UserError(f"{entry.path}: the group '{name}' contains itself: {' -> '.join((*parents, name))}.")
    keys: dict[str, str] = {}
    members = _members(content, entry.path, index)
    for member in members:
        keys |= _collect(member, index, tasks=tasks, groups=groups, parents=(*parents, name))
    groups[name] = {
        "alias": content.get("group_alias"),
        "members": members,
        "tasks": list(keys.values()),
        "aggregate_metric_list": content.get("aggregate_metric_list"),
        "metadata": content.get("metadata"),
    }
    return keys


def _members(content: Mapping[str, Any], path: Path, index: TaskIndex) -> list[str]:
    listed = content.get("task")
    members = [] if listed is None else listed if isinstance(listed, list) else [listed]
    if not members:
        raise UserError(f"{path}: the group has no members; list their names under 'task'.")
    for member in members:
        if not isinstance(member, str):
            raise UserError(f"{path}: a member of a group must be a name, but one is {member!r}.")
        if member not in index.entries:
            near = did_you_mean(member, index.entries)
            raise UserError(f"{path}: the group has the member '{member}', which no task file defines.{near}")
    return list(members)


def _escaped(value: Any, keys: tuple[str, ...] = ()) -> Any:
    """The same value for OmegaConf: `${` in a prompt is text here, not an interpolation; a date is the text it was."""
    if isinstance(value, str):
        if value == "???":
            raise UserError(
                f"{'.'.join(keys)}: the text '???' cannot stand alone, the config system reads it as a gap."
            )
        return re.sub(r"(\\*)\$\{", lambda match: match.group(1) * 2 + r"\${", value)
    if isinstance(value, Mapping):
        return {key: _escaped(item, (*keys, str(key))) for key, item in value.items()}
    if isinstance(value, date):
        return str(value)
    return [_escaped(item, keys) for item in value] if isinstance(value, list) else value
