"""How data sets lie in folders: one file or saved folder per split, a `save_to_disk` folder, a copy of a repository."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hydra_eval.data.source import Part
from hydra_eval.errors import UserError

READERS: Mapping[str, str] = {
    ".jsonl": "json",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".txt": "text",
}
"""File ending → builder; the ending may be followed by `.gz`."""
TAB: Mapping[str, Any] = {"sep": "\t"}
CARD = "README.md"


def file_ending(file: Path) -> str:
    """`.csv` of both `a.csv` and `a.csv.gz`."""
    return Path(file.stem).suffix if file.suffix == ".gz" else file.suffix


def split_name(file: Path) -> str:
    """`train` of both `train.csv` and `train.csv.gz`."""
    return file.name.partition(file_ending(file))[0]


def files_of(folder: Path, builder: str) -> list[Path]:
    """The files of a folder that a builder reads, by name."""
    endings = [ending for ending, reader in READERS.items() if reader == builder]
    return [entry for entry in entries(folder) if file_ending(entry) in endings and entry.is_file()]


def entries(folder: Path) -> list[Path]:
    """By name, without what editors and file systems hide beside the data."""
    return sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))


def is_saved(folder: Path) -> bool:
    """`save_to_disk` wrote it: a data set, or several splits of one."""
    return any((folder / name).is_file() for name in ("dataset_dict.json", "state.json"))


def parts_in(folder: Path) -> tuple[Part, ...]:
    """What a folder of splits holds, by name: SPLIT.jsonl (…), saved SPLIT folders, or one saved data set."""
    if not folder.is_dir():
        return ()
    if is_saved(folder):
        return (Part(path=str(folder), is_saved=True),)
    return tuple(part for entry in entries(folder) if (part := _split_part(entry)) is not None)


def each_split_once(parts: tuple[Part, ...], *, where: str) -> tuple[Part, ...]:
    """The same parts. Raises UserError for two of one split: which rows are meant is not ours to guess."""
    places: dict[str | None, str] = {}
    for part in parts:
        place = str(part.kwargs.get("data_files", part.path))
        if places.setdefault(part.split, place) != place:
            raise UserError(f"{where}: the split '{part.split}' is both {places[part.split]} and {place}. Keep one.")
    return parts


def _split_part(entry: Path) -> Part | None:
    if entry.is_dir():
        return Part(path=str(entry), split=entry.name, is_saved=True) if is_saved(entry) else None
    ending = file_ending(entry)
    if ending not in READERS or ending == ".txt":
        return None
    kwargs = {"data_files": str(entry), **(TAB if ending == ".tsv" else {})}
    return Part(path=READERS[ending], kwargs=kwargs, split=split_name(entry))
