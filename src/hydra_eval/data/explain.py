"""Why a data set cannot be read, in terms of its files."""

from __future__ import annotations

import gzip
import json
import textwrap
from collections.abc import Iterator
from pathlib import Path

from hydra_eval.data.files import flat, matches
from hydra_eval.data.source import Part, Source
from hydra_eval.errors import UserError


def check_files(part: Part, source: Source) -> None:
    """Raises UserError for a file that may not be read, or is empty where its rows are wanted."""
    for file in _local_files(part):
        try:
            with file.open("rb") as handle:
                is_empty = not handle.read(1)
        except OSError as error:
            raise UserError(f"{source.where}: {file}: {error.strerror}. Its rows are wanted by this task.") from error
        if is_empty and part.split is None:
            raise UserError(f"{source.where}: {file} is empty: give it rows, or leave it out of data_files.")


def reason(error: BaseException, source: Source) -> str:
    """The line that is at fault, where there is one; else the error and, where that says little, its cause."""
    for part in source.parts:
        if part.path == "json" and (found := _bad_json(part)):
            return found
    if "corresponds to no data" in str(error):
        return "a split has no rows: " + ", ".join(str(file) for part in source.parts for file in _local_files(part))
    cause = error.__cause__
    inner = f" ({type(cause).__name__}: {cause})" if cause is not None else ""
    return textwrap.shorten(f"{type(error).__name__}: {error}{inner}", 600, placeholder=" …").rstrip(".")


def _local_files(part: Part) -> Iterator[Path]:
    for name in flat(part.kwargs.get("data_files", [])):
        if Path(name).is_absolute():
            yield from (file for file in matches(Path(name)) if file.is_file())


def _bad_json(part: Part) -> str | None:
    return next((found for file in _local_files(part) if (found := bad_line(file)) is not None), None)


def bad_line(file: Path) -> str | None:
    """File, line and fault of the first thing in a JSON file that is no JSON object; None where all is well."""
    opened = gzip.open if file.suffix == ".gz" else open
    try:
        with opened(file, "rt", encoding="utf-8") as handle:
            text = handle.read()
    except (OSError, EOFError, UnicodeDecodeError) as error:
        return f"{file}: {error}"
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return f"{file}, line {error.lineno}: {error.msg}" if text.lstrip().startswith("[") else _bad_row(file, text)
    return None


def _bad_row(file: Path, text: str) -> str | None:
    """The same for a file with one object per line."""
    for number, line in enumerate(text.split("\n"), start=1):
        try:
            row = json.loads(line) if line.strip() else {}
        except json.JSONDecodeError as error:
            return f"{file}, line {number}: {error.msg} in {textwrap.shorten(line, 80, placeholder=' …')!r}"
        if not isinstance(row, dict):
            return f"{file}, line {number}: a row must be an object, not {textwrap.shorten(line, 80)!r}"
    return None
