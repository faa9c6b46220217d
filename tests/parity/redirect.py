"""Point an lm-eval task at local files, and leave all else as it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from .catalogue import all_tasks


def local_dataset(config: Mapping[str, Any], root: Path) -> dict[str, Any]:
    """The task keys that read `root/ORG/NAME/SUBSET/SPLIT.jsonl` where `config` names a data set of the hub."""
    folder = root.resolve() / config["dataset_path"] / (config.get("dataset_name") or "default")
    files = {path.stem: str(path) for path in sorted(folder.glob("*.jsonl"))}
    if not files:
        raise FileNotFoundError(f"{config['task']}: no *.jsonl in {folder}")
    return {"dataset_path": "json", "dataset_name": None, "dataset_kwargs": {"data_files": files}}


def write_wrapper(task_file: Path, keys: Mapping[str, Any], *, folder: Path) -> Path:
    """A YAML in `folder` that includes `task_file` and sets `keys` over it; never written over another."""
    path = folder / f"{'_'.join(task_file.with_suffix('').parts[-3:])}.yaml"
    with path.open("x", encoding="utf-8") as stream:
        yaml.safe_dump({"include": str(task_file.resolve()), **keys}, stream)
    return path


def write_local_wrappers(task_files: Iterable[Path], *, root: Path, folder: Path) -> list[Path]:
    """One wrapper per file: the same task on the files under `root`."""
    from lm_eval.tasks._yaml_loader import load_yaml

    return [
        write_wrapper(file, local_dataset(load_yaml(file, resolve_func=False), root), folder=folder)
        for file in task_files
    ]


def builtin_files(names: Iterable[str]) -> list[Path]:
    """The YAML files of lm-eval's own tasks; reads its whole tree, about ten seconds."""
    return [all_tasks()[name].path for name in names]
