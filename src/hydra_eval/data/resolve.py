"""What a task says about its data set → where its rows are: `data.root`, files beside the task, or the hub."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hydra_eval.config.schema import DataConfig
from hydra_eval.config.task_config import TaskConfig
from hydra_eval.data.features import features_of
from hydra_eval.data.files import HUB, Places, flat, matches, with_files
from hydra_eval.data.layout import CARD, TAB, each_split_once, is_saved, parts_in
from hydra_eval.data.source import Part, Source
from hydra_eval.errors import UserError

BUILDERS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    **{name: (name, {}) for name in ("json", "csv", "parquet", "arrow", "text")},
    "tsv": ("csv", TAB),
}
"""What `dataset_path` may say for files of one format → builder of `datasets` and its options."""


def source_of(task: TaskConfig, data: DataConfig) -> Source:
    """Find the data set. Looks at the file system, never at the network.

    Raises UserError naming the task's file where a file or folder is not there, or may not be read.
    """
    path, where = task.dataset_path, task.file
    if not path:
        raise UserError(f"{where}: 'dataset_path' is missing: a hub name, a folder, or one of {', '.join(BUILDERS)}.")
    kwargs = _arguments(task, data)
    places = Places(where=where, root=_root(data))
    try:
        if path in BUILDERS:
            return _of_files(path, task, kwargs, places)
        if parts := _parts_below_root(path, task.dataset_name, kwargs, places.root):
            return _source("root", task, kwargs, each_split_once(parts, where=where))
        if _is_local(path, places):
            return _source("local", task, kwargs, _parts_of_folder(path, task.dataset_name, kwargs, places))
    except PermissionError as error:
        raise UserError(f"{where}: {error.filename}: permission denied. Ask for the right to read it.") from error
    return _source("hub", task, kwargs, (Part(path=path, name=task.dataset_name, kwargs=kwargs),))


def _arguments(task: TaskConfig, data: DataConfig) -> dict[str, Any]:
    """The task's `dataset_kwargs` as `load_dataset` takes them; whether to stream is a matter of its own."""
    dropped = {"streaming"} if data.trust_remote_code else {"streaming", "trust_remote_code"}
    kwargs = {key: value for key, value in (task.dataset_kwargs or {}).items() if key not in dropped}
    if isinstance(kwargs.get("features"), Mapping):
        kwargs["features"] = features_of(kwargs["features"], where=f"{task.file}: dataset_kwargs.features")
    if "column_names" in kwargs:
        # The other name of the same option: `datasets` forgets this one where the files lie in a repository.
        kwargs.setdefault("names", kwargs["column_names"])
    return kwargs


def _root(data: DataConfig) -> Path | None:
    if data.root is None:
        return None
    root = Path(data.root).expanduser().absolute()
    if not root.is_dir():
        raise UserError(f"data.root={data.root}: there is no such folder.")
    return root


def _source(kind: str, task: TaskConfig, kwargs: Mapping[str, Any], parts: tuple[Part, ...]) -> Source:
    return Source(
        kind=kind,
        title=f"{task.dataset_path}/{task.dataset_name}" if task.dataset_name else str(task.dataset_path),
        where=task.file,
        parts=parts,
        path=task.dataset_path,
        name=task.dataset_name,
        revision=None if kwargs.get("revision") is None else str(kwargs["revision"]),
    )


def _of_files(path: str, task: TaskConfig, kwargs: Mapping[str, Any], places: Places) -> Source:
    builder, options = BUILDERS[path]
    found = {**options, **with_files(kwargs, builder, places)}
    part = Part(path=builder, name=task.dataset_name, kwargs=found)
    return _source(_kind_of(found.get("data_files", []), kwargs.get("data_files", [])), task, kwargs, (part,))


def _kind_of(found: Any, given: Any) -> str:
    """Where a builder's files lie, from their paths and from what the task said."""
    if remote := [file for file in flat(found) if "://" in file]:
        return "hub" if all(file.startswith(HUB) for file in remote) else "url"
    return "root" if any("://" in file for file in flat(given)) else "local"


def _parts_below_root(path: str, name: str | None, kwargs: Mapping[str, Any], root: Path | None) -> tuple[Part, ...]:
    """What `data.root` has of a data set: its files by name, a folder of splits, or a copy of its repository."""
    if root is None or Path(path).is_absolute():
        return ()
    copy = root / path
    if "data_files" in kwargs:
        # Which rows are meant is a matter of those files: the splits of another place would be other rows.
        held = [file for file in flat(kwargs["data_files"]) if "://" not in file and matches(copy / file)]
        return (Part(path=str(copy), name=name, kwargs=_local_only(kwargs)),) if held else ()
    if parts := parts_in(copy / (name or "default")):
        return parts
    if name is None and is_saved(copy):
        return parts_in(copy)
    if (copy / CARD).is_file():
        return (Part(path=str(copy), name=name, kwargs=_local_only(kwargs)),)
    return () if name else _parts_of_only_subset(copy)


def _parts_of_only_subset(copy: Path) -> tuple[Part, ...]:
    """As on the hub, who names no subset gets the only one there is."""
    subsets = [entry for entry in copy.iterdir() if entry.is_dir()] if copy.is_dir() else []
    return parts_in(subsets[0]) if len(subsets) == 1 else ()


def _parts_of_folder(path: str, name: str | None, kwargs: Mapping[str, Any], places: Places) -> tuple[Part, ...]:
    for beside in places.folders:
        folder = (beside / Path(path).expanduser()).resolve()
        if folder.is_dir():
            return _parts_of(folder, name, kwargs)
        if folder.is_file():
            raise UserError(
                f"{places.where}: dataset_path '{path}' is a file: write a builder ({', '.join(BUILDERS)}) there, and "
                "the file under dataset_kwargs.data_files."
            )
    raise UserError(f"{places.where}: dataset_path '{path}': there is no such folder.")


def _parts_of(folder: Path, name: str | None, kwargs: Mapping[str, Any]) -> tuple[Part, ...]:
    """A saved data set, saved splits, or data files that `datasets` sorts into splits by their names."""
    parts = parts_in(folder)
    if is_saved(folder) or (parts and all(part.is_saved for part in parts)):
        return parts
    return (Part(path=str(folder), name=name, kwargs=_local_only(kwargs)),)


def _local_only(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in kwargs.items() if key != "revision"}


def _is_local(path: str, places: Places) -> bool:
    return path.startswith((".", "/", "~")) or any((folder / path).is_dir() for folder in places.folders)
