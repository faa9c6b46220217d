"""Rows of a task's data set: from `data.root`, from local files, or from the hub."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hydra_eval.config.schema import DataConfig
from hydra_eval.config.task_config import TaskConfig
from hydra_eval.errors import UserError, did_you_mean, noted
from hydra_eval.hub import go_offline_if_unreachable

BUILDERS = ("json", "csv", "parquet", "arrow", "text")
"""Names of `datasets` builders that a task may give as `dataset_path`."""
READERS = {".jsonl": "json", ".json": "json", ".csv": "csv", ".tsv": "csv", ".parquet": "parquet", ".arrow": "arrow"}
"""File ending under `data.root` → builder."""


def load_splits(task: TaskConfig, data: DataConfig) -> Mapping[str, Any]:
    """Split name → `datasets.Dataset`.

    Raises UserError naming the data set where it is not found, cannot be read, or cannot be reached.
    """
    import datasets

    path, where = task.dataset_path, task.file
    if not path:
        raise UserError(f"{where}: 'dataset_path' is missing: a hub name, a folder, or one of {', '.join(BUILDERS)}.")
    kwargs = {key: value for key, value in (task.dataset_kwargs or {}).items() if key != "trust_remote_code"}
    try:
        if path in BUILDERS:
            return _as_splits(datasets.load_dataset(path, task.dataset_name, **_with_files(kwargs, task)))
        if (local := _below_root(path, task.dataset_name, data)) is not None:
            return {split: _read_file(file) for split, file in local.items()}
        if _is_local(path):
            return _as_splits(datasets.load_dataset(str(_local(path, task)), task.dataset_name, **kwargs))
        return _from_hub(task, kwargs)
    except (OSError, ValueError, TypeError, datasets.exceptions.DatasetsError) as error:
        raise UserError(f"{where}: the data set '{path}' cannot be read: {_reason(error)}") from error


def rows_of(splits: Mapping[str, Any], split: str, task: TaskConfig, process: Any) -> list[dict[str, Any]]:
    """The rows of one split after `process`, the task's hook on a whole `Dataset`; an unknown split is a UserError."""
    if split not in splits:
        near = did_you_mean(split, splits)
        raise UserError(f"{task.file}: the data set has no split '{split}'.{near} Splits: {', '.join(splits)}.")
    if process is None:
        return [dict(row) for row in splits[split]]
    with noted(f"in process_docs of {task.file}, split '{split}'"):
        processed = process(splits[split])
        rows = list(processed) if isinstance(processed, Iterable) else processed
    if not isinstance(rows, list) or not all(_is_row(row) for row in rows):
        raise UserError(f"{task.file}: process_docs must give rows (mappings), not {_shortened(processed)}.")
    return [dict(row) for row in rows]


def _is_row(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(column, str) for column in value)


def _shortened(value: Any) -> str:
    return textwrap.shorten(repr(value), 200, placeholder=" …")


def _reason(error: BaseException) -> str:
    """The error and, where `datasets` only says that something went wrong, what it was."""
    cause = error.__cause__
    inner = f" ({type(cause).__name__}: {cause})" if cause is not None else ""
    return textwrap.shorten(f"{type(error).__name__}: {error}{inner}", 600, placeholder=" …")


def _from_hub(task: TaskConfig, kwargs: Mapping[str, Any]) -> Mapping[str, Any]:
    import datasets

    reachable = not go_offline_if_unreachable()
    try:
        return _as_splits(datasets.load_dataset(task.dataset_path, task.dataset_name, **kwargs))
    except (OSError, ValueError, datasets.exceptions.DatasetsError) as error:
        state = "was not found on the hub" if reachable else "is not cached here and the hub cannot be reached"
        subset = f"/{task.dataset_name}" if task.dataset_name else ""
        raise UserError(
            f"{task.file}: the data set '{task.dataset_path}{subset}' {state} ({type(error).__name__}). "
            f"With data.root=DIR it is read from DIR/{task.dataset_path}/{task.dataset_name or 'default'}/SPLIT.jsonl "
            "(or json, csv, tsv, parquet, arrow)."
        ) from error


def _below_root(path: str, name: str | None, data: DataConfig) -> dict[str, Path] | None:
    """Split → file under `data.root`, or None where the root does not hold this data set."""
    if data.root is None:
        return None
    root = Path(data.root).expanduser()
    if not root.is_dir():
        raise UserError(f"data.root={data.root}: there is no such folder.")
    files = sorted((root / path / (name or "default")).glob("*"))
    return {file.stem: file for file in files if file.suffix in READERS} or None


def _read_file(file: Path) -> Any:
    import datasets

    options = {"sep": "\t"} if file.suffix == ".tsv" else {}
    return datasets.load_dataset(READERS[file.suffix], data_files=str(file), split="train", **options)


def _with_files(kwargs: Mapping[str, Any], task: TaskConfig) -> dict[str, Any]:
    """Relative paths count from the task file's folder where they exist there, else from the working folder."""
    if "data_files" not in kwargs:
        return dict(kwargs)
    return {**kwargs, "data_files": _anchored(kwargs["data_files"], Path(task.file).parent, task.file)}


def _anchored(files: Any, folder: Path, where: str) -> Any:
    if isinstance(files, Mapping):
        return {split: _anchored(value, folder, where) for split, value in files.items()}
    if isinstance(files, Sequence) and not isinstance(files, str):
        return [_anchored(value, folder, where) for value in files]
    if not isinstance(files, str):
        raise UserError(f"{where}: dataset_kwargs.data_files must name files, but has {files!r}.")
    if "://" in files:
        return files
    for candidate in ((folder / files).resolve(), Path(files).expanduser().absolute()):
        if any(Path(candidate.anchor).glob(str(candidate.relative_to(candidate.anchor)))):
            return str(candidate)
    raise UserError(f"{where}: the data file '{files}' exists neither in {folder} nor in the working folder.")


def _is_local(path: str) -> bool:
    return path.startswith((".", "/", "~")) or Path(path).is_dir()


def _local(path: str, task: TaskConfig) -> Path:
    beside = Path(task.file).parent / path
    folder = beside if beside.is_dir() else Path(path).expanduser()
    if not folder.is_dir():
        raise UserError(f"{task.file}: dataset_path '{path}': there is no such folder.")
    return folder


def _as_splits(loaded: Any) -> Mapping[str, Any]:
    return loaded if isinstance(loaded, Mapping) else {str(loaded.split): loaded}
