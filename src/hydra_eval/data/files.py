"""The paths of `data_files`: relative ones count from the task file's folder, else from the working folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from glob import has_magic
from pathlib import Path
from typing import Any

from hydra_eval.data.layout import files_of
from hydra_eval.errors import UserError

HUB = "hf://datasets/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where files are looked for."""

    where: str
    """The task's file, for messages and as the first place."""
    root: Path | None
    """`data.root`: `hf://datasets/ORG/NAME/FILE` is looked for at ORG/NAME/FILE below it."""

    @property
    def folders(self) -> tuple[Path, ...]:
        return (Path(self.where).parent.absolute(), Path.cwd())


def with_files(kwargs: Mapping[str, Any], builder: str, places: Places) -> dict[str, Any]:
    """The same arguments with `data_files` and `data_dir` as absolute paths."""
    found = dict(kwargs)
    if "data_files" in kwargs:
        found["data_files"] = anchored(kwargs["data_files"], builder, places)
    if isinstance(kwargs.get("data_dir"), str) and "://" not in kwargs["data_dir"]:
        found["data_dir"] = _existing_folder(kwargs["data_dir"], places)
    return found


def anchored(files: Any, builder: str, places: Places) -> Any:
    """Absolute paths in the shape they were given: a file, a pattern or a folder; a list; a map from splits."""
    if isinstance(files, Mapping):
        return {split: anchored(value, builder, places) for split, value in files.items()}
    if isinstance(files, Sequence) and not isinstance(files, str):
        return [name for value in files for name in _as_list(anchored(value, builder, places))]
    if not isinstance(files, str):
        raise UserError(f"{places.where}: dataset_kwargs.data_files must name files, but has {files!r}.")
    if "://" in files:
        return _below_root(files, places)
    return _existing(files, builder, places)


def flat(files: Any) -> list[str]:
    """Every name in `data_files`."""
    if isinstance(files, Mapping):
        files = list(files.values())
    return [files] if isinstance(files, str) else [name for value in files for name in flat(value)]


def matches(path: Path) -> list[Path]:
    """The files that a path, which may be a pattern, stands for. Raises PermissionError where it cannot be known."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return sorted(Path(path.anchor).glob(str(path.relative_to(path.anchor)))) if has_magic(str(path)) else []
    return [path]


def _existing(files: str, builder: str, places: Places) -> str | list[str]:
    for folder in places.folders:
        candidate = (folder / Path(files).expanduser()).resolve()
        if candidate.is_dir():
            return _files_in(candidate, builder, places)
        if matches(candidate):
            return str(candidate)
    raise UserError(
        f"{places.where}: the data file '{files}' exists neither in {places.folders[0]} nor in the working folder."
    )


def _files_in(folder: Path, builder: str, places: Places) -> list[str]:
    if found := files_of(folder, builder):
        return [str(file) for file in found]
    raise UserError(f"{places.where}: data_files names the folder {folder}, which has no file for '{builder}'.")


def _existing_folder(name: str, places: Places) -> str:
    for folder in places.folders:
        if (folder / Path(name).expanduser()).is_dir():
            return str((folder / Path(name).expanduser()).resolve())
    raise UserError(f"{places.where}: dataset_kwargs.data_dir='{name}': there is no such folder.")


def _below_root(url: str, places: Places) -> str:
    """The local copy of a file on the hub, where `data.root` has one."""
    if places.root is None or not url.startswith(HUB):
        return url
    organisation, _, rest = url.removeprefix(HUB).partition("/")
    name, _, file = rest.partition("/")
    copy = places.root / organisation / name.partition("@")[0] / file
    return str(copy.absolute()) if matches(copy.absolute()) else url


def _as_list(names: str | list[str]) -> list[str]:
    return [names] if isinstance(names, str) else names
