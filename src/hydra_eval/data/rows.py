"""Rows as plain mappings: of a split, after the task's own hook on the whole split."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hydra_eval.data.facts import SplitFacts
from hydra_eval.data.source import Loaded
from hydra_eval.errors import UserError, did_you_mean, noted

BATCH = 1_000
"""Rows taken from a `datasets.Dataset` at once: one by one costs four times as much."""

Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitRows:
    """One split after the task's hook."""

    rows: tuple[Row, ...]
    facts: SplitFacts


def split_rows(loaded: Loaded, split: str, process: Callable[[Any], Any] | None, *, where: str) -> SplitRows:
    """The rows of one split after `process`, the task's hook on a whole data set.

    Raises UserError where there is no such split, and where the hook gives no rows.
    """
    if split not in loaded.splits:
        near = did_you_mean(split, loaded.splits)
        raise UserError(f"{where}: the data set has no split '{split}'.{near} Splits: {', '.join(loaded.splits)}.")
    given = loaded.splits[split]
    rows = _as_read(given, split, where=where) if process is None else _processed(given, split, process, where=where)
    read = len(given) if hasattr(given, "__len__") else len(rows)
    facts = SplitFacts(
        split=split, read=read, kept=len(rows), dropped=max(0, read - len(rows)), whole=split not in loaded.cut
    )
    return SplitRows(rows=rows, facts=facts)


def _as_read(given: Any, split: str, *, where: str) -> tuple[Row, ...]:
    """Some faults of a file show only here: what is read is mapped into memory, and looked at when it is taken."""
    try:
        return tuple(plain_rows(given))
    except Exception as error:
        remedy = " Save the file as UTF-8." if isinstance(error, UnicodeDecodeError) else ""
        what = f"{type(error).__name__}: {error}"
        raise UserError(f"{where}: the rows of split '{split}' cannot be read: {what}.{remedy}") from error


def plain_rows(rows: Iterable[Any]) -> Iterator[Row]:
    """Every row as a mapping of its own."""
    import datasets

    if not isinstance(rows, datasets.Dataset):
        yield from (dict(row) for row in rows)
        return
    for start in range(0, len(rows), BATCH):
        columns = rows[start : start + BATCH]
        yield from (dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True))


def _processed(given: Any, split: str, process: Callable[[Any], Any], *, where: str) -> tuple[Row, ...]:
    with noted(f"in process_docs of {where}, split '{split}'"):
        processed = process(given)
        # A hook may give a generator: its rows are made here, and its errors are its own.
        rows = _if_rows(processed)
    if rows is None:
        shown = textwrap.shorten(repr(processed), 200, placeholder=" …")
        raise UserError(f"{where}: process_docs must give rows (mappings), not {shown}.")
    return rows


def _if_rows(processed: Any) -> tuple[Row, ...] | None:
    import datasets

    if isinstance(processed, datasets.Dataset):
        return tuple(plain_rows(processed))
    if not isinstance(processed, Iterable):
        return None
    rows = list(processed)
    return tuple(dict(row) for row in rows) if all(_is_row(row) for row in rows) else None


def _is_row(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(column, str) for column in value)
