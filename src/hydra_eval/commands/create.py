"""`hydra-eval create`: a task file for a data set, which passes `hydra-eval validate`."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hydra_eval.commands.draft import KINDS, Fields, draft
from hydra_eval.config.schema import DataConfig
from hydra_eval.config.task_config import TaskConfig
from hydra_eval.data.layout import READERS, entries, file_ending, split_name
from hydra_eval.data.load import load
from hydra_eval.data.resolve import source_of
from hydra_eval.errors import UserError, did_you_mean

TSV = "tsv"
"""What `dataset_path` calls the format; its builder, with another separator, is csv."""


def create(path: Path, *, kind: str, data: Mapping[str, Any], given: Fields) -> None:
    """Write the task file `path` for the data set that `data_of` found; the task is called like the file.

    Raises UserError where the file is there already, the data cannot be read, or a column cannot be guessed.
    """
    if kind not in KINDS:
        raise UserError(f"--kind {kind}: unknown.{did_you_mean(kind, KINDS)} Known: {', '.join(KINDS)}.")
    if not re.fullmatch(r"\w[\w.:-]*", path.stem):
        raise UserError(
            f"'{path.stem}' is no good name for a task: begin with a letter, digit or _, then take also -, . and :."
        )
    if path.exists():
        raise UserError(f"{path} exists already; name another task or folder.")
    rows = _first_rows(TaskConfig(task=path.stem, file=str(path), **data))
    text = draft(path.stem, kind, data, rows, given)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}. Name another --folder.") from error


def data_of(source: str, subset: str | None, folder: Path) -> dict[str, Any]:
    """The task keys that say where the data is: a data file, a folder of SPLIT files, or a data set of the hub.

    Files are named as seen from `folder`, where the task file will be.
    """
    given = Path(source).expanduser()
    if given.is_file() and file_ending(given) in READERS:
        return _files({"test": given}, folder)
    if given.is_dir():
        files = {split_name(path): path for path in entries(given) if file_ending(path) in READERS}
        if not files:
            raise UserError(f"--from {source}: the folder holds no data files ({', '.join(READERS)}).")
        return _files(files, folder)
    if given.exists() or file_ending(given) in READERS:
        raise UserError(f"--from {source}: there is no such data file ({', '.join(READERS)}).")
    return {"dataset_path": source} | ({"dataset_name": subset} if subset else {})


def _files(files: Mapping[str, Path], folder: Path) -> dict[str, Any]:
    formats = {TSV if file_ending(path) == f".{TSV}" else READERS[file_ending(path)] for path in files.values()}
    if len(formats) > 1:
        raise UserError(f"The files have several formats: {', '.join(sorted(formats))}. Name one file.")
    seen = {split: os.path.relpath(path.resolve(), folder.resolve()) for split, path in files.items()}
    return {"dataset_path": formats.pop(), "dataset_kwargs": {"data_files": seen}}


def _first_rows(task: TaskConfig) -> dict[str, Mapping[str, Any]]:
    """Split → its first row; empty splits are left out."""
    splits: Mapping[str, Sequence[Mapping[str, Any]]] = load(source_of(task, DataConfig())).splits
    rows: dict[str, Mapping[str, Any]] = {split: dict(found[0]) for split, found in splits.items() if len(found)}
    if not rows:
        raise UserError(f"The data set '{task.dataset_path}' has no rows.")
    return rows
