"""The part of `--help` that lists config groups: all options of each, but of the tasks, thousands maybe, the number."""

from __future__ import annotations

import os
from pathlib import Path

from hydra_eval.config.command_line import GROUPS
from hydra_eval.config.task_folders import task_folders
from hydra_eval.config.task_index import task_index
from hydra_eval.resources import conf_folder


def group_options() -> str:
    """One line per group."""
    lines = [f"{group}: {', '.join(_options(group))}" for group in sorted(set(GROUPS) - {"task"})]
    index = task_index(tuple(Path(folder) for folder in task_folders().split(os.pathsep)))
    groups = sum(entry.kind == "group" for entry in index.entries.values())
    names = f"{len(index.entries) - groups} tasks, {groups} groups and {len(index.tags)} tags"
    return "\n".join([*lines, f"task: {names}; 'hydra-eval list' names them"])


def _options(group: str) -> list[str]:
    return sorted(path.stem for path in (conf_folder() / group).glob("*.yaml"))
