"""How data sets lie in folders: one file or saved folder per split, a `save_to_disk` folder, a copy of a repository."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hydra_eval.data.source import Part

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


def files_of(folder: Path, builder: str) -> list[Path]:
    """The files of a folder that a builder reads, by name."""
    endings = [ending for ending, reader in READERS.items() if reader == builder]
    return sorted(file for file in folder.iterdir() if file_ending(file) in endings and file.is_file())


def is_saved(folder: Path) -> bool:
    """`save_to_disk` wrote it: a data set, or several splits of one."""
    return any((folder / name).is_file() for name in ("dataset_dict.json", "state.json"))


def parts_in(folder: Path) -> tuple[Part, ...]:
    """What a folder of splits holds, by name: SPLIT.jsonl (…), saved SPLIT folders, or one saved data set."""
    if not folder.is_dir():
        return ()
    if is_saved(folder):
        return (Part(path=str(folder), is_saved=True),)
    return tuple(part for entry in sorted(folder.iterdir()) if (part := _split_part(entry)) is not None)


def _split_part(entry: Path) -> Part | None:
    if entry.is_dir():
        return Part(path=str(entry), split=entry.name, is_saved=True) if is_saved(entry) else None
    ending = file_ending(entry)
    if ending not in READERS or ending == ".txt":
        return None
    kwargs = {"data_files": str(entry), **(TAB if ending == ".tsv" else {})}
    return Part(path=READERS[ending], kwargs=kwargs, split=entry.name.partition(ending)[0])
