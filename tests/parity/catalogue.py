"""Task files as lm-eval reads them, its own or the bundled ones, and those whose data is at hand."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

ENDINGS = {".jsonl": "json", ".json": "json", ".csv": "csv", ".parquet": "parquet", ".arrow": "arrow"}
"""File ending → builder of `datasets`."""
SPLIT_KEYS = ("training_split", "validation_split", "test_split", "fewshot_split")


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFile:
    """One task of lm-eval's tree, or of another folder of task files."""

    name: str
    path: Path
    config: Mapping[str, Any] = field(repr=False)
    """Its keys after `include`, functions by name."""

    @property
    def family(self) -> str:
        """The folder directly below `lm_eval/tasks`."""
        return self.path.relative_to(tasks_root()).parts[0]

    @property
    def data_set(self) -> tuple[str, str]:
        """(path, subset); `default` where the file names no subset. Files of a builder get a name of their own."""
        path = str(self.config.get("dataset_path"))
        if self.is_redirected:
            path = f"made-up/{re.sub(r'[^A-Za-z0-9-]', '_', self.name)}"
        return path, str(self.config.get("dataset_name") or "default")

    @property
    def own_files(self) -> dict[str, Path]:
        """Split → file, where its data lies beside it."""
        named = (self.config.get("dataset_kwargs") or {}).get("data_files")
        if not isinstance(named, Mapping):
            return {}
        files = {split: self.path.parent / str(file) for split, file in named.items()}
        return files if all(file.is_file() for file in files.values()) else {}

    @property
    def is_redirected(self) -> bool:
        """It names files that are not here, so that the data set of the same name is not what it reads."""
        return "data_files" in (self.config.get("dataset_kwargs") or {}) and not self.own_files

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits it names."""
        shots = self.config.get("fewshot_config")
        named = [self.config.get(key) for key in SPLIT_KEYS]
        named.append(shots.get("split") if isinstance(shots, Mapping) else None)
        return tuple(dict.fromkeys(str(split) for split in named if split))


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A task with its data, or the reason why it cannot be used."""

    task: TaskFile
    files: Mapping[str, Path]
    """Split → file."""
    reason: str | None = None


def tasks_root() -> Path:
    import lm_eval.tasks

    return Path(lm_eval.tasks.__file__).parent


@cache
def all_tasks() -> dict[str, TaskFile]:
    """Every task of the installed lm-eval by name; about ten seconds."""
    return tasks_below(tasks_root())


def tasks_below(folder: Path) -> dict[str, TaskFile]:
    """Every task in one folder of task files by name, Python classes included."""
    from lm_eval.tasks import TaskManager

    entries = TaskManager(include_path=str(folder), include_defaults=False).task_index.values()
    return {
        entry.name: TaskFile(name=entry.name, path=Path(entry.yaml_path), config=entry.cfg)
        for entry in entries
        if entry.kind.name in ("TASK", "PY_TASK")
    }


def split_files(folder: Path) -> dict[str, Path]:
    """Split → file of one data set."""
    return {file.stem: file for file in sorted(folder.glob("*")) if file.suffix in ENDINGS}


def found_below(root: Path, tasks: Mapping[str, TaskFile] | None = None) -> list[Found]:
    """Every task whose data set has a folder below `root` or beside it, in the order of their names.

    `tasks`: those of `tasks_below`; default: lm-eval's own.
    """
    ordered = (task for _, task in sorted((all_tasks() if tasks is None else tasks).items()))
    return [_found(task, root) for task in ordered if task.own_files or _has_folder(task, root)]


def _has_folder(task: TaskFile, root: Path) -> bool:
    return "/" in task.data_set[0] and (root / task.data_set[0]).is_dir()


def _only_subset(task: TaskFile, folder: Path) -> dict[str, Path]:
    """The hub gives a data set's only subset to whoever names none."""
    subsets = [] if task.config.get("dataset_name") else [path for path in folder.iterdir() if path.is_dir()]
    return split_files(subsets[0]) if len(subsets) == 1 else {}


def _found(task: TaskFile, root: Path) -> Found:
    path, subset = task.data_set
    files = task.own_files or split_files(root / path / subset) or _only_subset(task, root / path)
    missing = [split for split in task.splits if split not in files]
    reason = None
    if not files:
        reason = f"{path} has no subset {subset} here"
    elif missing:
        reason = f"{path} {subset} lacks the split {', '.join(missing)}"
    elif "class" in task.config:
        reason = "a Python class with a download of its own"
    return Found(task=task, files=files, reason=reason)
