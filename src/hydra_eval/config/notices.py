"""What a run says about how its names were read, before it starts."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from hydra_eval.config.schema import RunConfig
from hydra_eval.config.spec import parse_spec
from hydra_eval.config.task_folders import task_folders
from hydra_eval.config.task_index import task_index
from hydra_eval.errors import known_names

SHOWN = 8
"""Names in one line."""


def notices(config: RunConfig) -> list[str]:
    """One line each: old forms of SPECs, and, for every name of the run that two files define, which one counts."""
    index = task_index(tuple(Path(folder) for folder in task_folders().split(os.pathsep)))
    return [
        *_suites(config),
        *_which_counts(_named(config, index.shadowed), index.shadowed, "the bundled "),
        *_which_counts(_named(config, index.doubled), index.doubled, ""),
    ]


def _named(config: RunConfig, files: Mapping[str, tuple[Path, Path]]) -> list[str]:
    """Groups and tasks of the run that two files define; not those that were asked for by the path of a third."""
    tasks = ((task["task"], task.get("file")) for task in config.tasks.values())
    counting = [name for name, file in tasks if name in files and file == str(files[name][0])]
    return [*(name for name in config.groups if name in files), *dict.fromkeys(counting)]


def _suites(config: RunConfig) -> list[str]:
    specs = [parse_spec(text) for text in config.selection]
    old = [f"'{spec.text}' is '{spec.rewritten}'" for spec in specs if spec.suite is not None]
    return [f"task=: the suite before the first bar counts for nothing: {', '.join(old)}."] if old else []


def _which_counts(names: Sequence[str], files: Mapping[str, tuple[Path, Path]], kind: str) -> list[str]:
    """One line for all of them: a whole tree before the shelf would give dozens."""
    if not names:
        return []
    first, *others = names
    counts, other = files[first]
    more = f"; the same for {known_names(others, shown=SHOWN)}" if others else ""
    return [f"{first}: {counts} counts, not {kind}{other}{more}."]
