"""Reads a data set, with `datasets`. The only place where rows come from a file or a network."""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from hydra_eval.data.explain import check_files, reason
from hydra_eval.data.files import HUB, flat
from hydra_eval.data.retry import Exhausted, retried
from hydra_eval.data.source import Loaded, Part, Source
from hydra_eval.errors import UserError, noted
from hydra_eval.hub import CONNECT_SECONDS, go_offline_if_unreachable, is_reachable

COMMIT = re.compile(r"(?<![0-9a-f])[0-9a-f]{40}(?![0-9a-f])")


def load(source: Source, *, retries: int = 0, sleep: Callable[[float], None] = time.sleep) -> Loaded:
    """Every split of the data set; of a stream, the rows that are wanted.

    Raises UserError naming the data set where it is not found, cannot be read, or cannot be reached.
    """
    if source.make is not None:
        with noted(f"in custom_dataset of {source.where}"):
            made = source.make()
            return Loaded(
                splits={split: list(rows) if isinstance(rows, Iterator) else rows for split, rows in made.items()}
            )
    is_offline = _is_out_of_reach(source)
    for part in source.parts:
        check_files(part, source)
    retries = 0 if is_offline else retries
    try:
        return retried(lambda: _read(source), retries=retries, title=source.title, sleep=sleep)
    except Exception as error:  # whatever the libraries make of files and servers that are not as they should be
        raise UserError(_message(source, error, is_offline=is_offline)) from error


def _is_out_of_reach(source: Source) -> bool:
    """Whether only the cache is left to look into, for what lies on the hub; other hosts must answer."""
    if source.kind == "hub":
        return go_offline_if_unreachable()
    if source.kind == "url":
        for url in (file for part in source.parts for file in flat(part.kwargs.get("data_files", []))):
            if "://" in url and urlsplit(url).scheme in ("http", "https") and not is_reachable(url):
                raise UserError(f"{source.where}: no answer from {url} within {CONNECT_SECONDS:g} s.")
    return False


def _read(source: Source) -> Loaded:
    splits: dict[str, Any] = {}
    for part in source.parts:
        splits |= _read_part(part, streaming=source.heads is not None)
    if source.heads is not None:
        return _heads(splits, source.heads)
    return Loaded(splits=splits, commit=_commit(splits) if source.kind == "hub" else None)


def _read_part(part: Part, *, streaming: bool) -> dict[str, Any]:
    import datasets

    if part.is_saved:
        loaded = datasets.load_from_disk(part.path)
    elif part.split is not None and _is_empty(part):
        return {part.split: []}
    else:
        wanted = {"split": "train"} if part.split is not None else {}
        loaded = datasets.load_dataset(part.path, part.name, **part.kwargs, **wanted, streaming=streaming)
    if isinstance(loaded, Mapping):
        return {str(split): rows for split, rows in loaded.items()}
    return {part.split or str(loaded.split or "train"): loaded}


def _is_empty(part: Part) -> bool:
    """A file without a byte: a split without rows, which matters only to those who want it."""
    return all(Path(file).stat().st_size == 0 for file in flat(part.kwargs["data_files"]))


def _heads(splits: Mapping[str, Any], heads: Mapping[str, int | None]) -> Loaded:
    """The first rows of the splits that are wanted; of the others only the name is kept."""
    found: dict[str, Any] = dict.fromkeys(splits)
    cut = set()
    for split in heads.keys() & splits.keys():
        found[split], is_cut = head(splits[split], heads[split])
        cut |= {split} if is_cut else set()
    return Loaded(splits=found, cut=frozenset(cut))


def head(rows: Any, count: int | None) -> tuple[Any, bool]:
    """The first `count` rows as a `datasets.Dataset`, and whether there may be more. Reads no row beyond them."""
    import datasets

    if not isinstance(rows, datasets.IterableDataset):
        return rows, False
    read = [dict(row) for row in itertools.islice(rows, count)]
    return datasets.Dataset.from_list(read, features=rows.features), count is not None and len(read) == count


def _commit(splits: Mapping[str, Any]) -> str | None:
    """The hub's commit, after which `datasets` names the folders of what it prepared from a repository."""
    files = [file["filename"] for rows in splits.values() for file in getattr(rows, "cache_files", None) or []]
    return next((found.group() for file in files if (found := COMMIT.search(file))), None)


def _message(source: Source, error: Exception, *, is_offline: bool) -> str:
    tries, cause = (f" in {error.tries} tries", error.__cause__) if isinstance(error, Exhausted) else ("", error)
    why = reason(cause or error, source)
    if source.kind != "hub":
        return f"{source.where}: the data set '{source.title}' cannot be read{tries}: {why}"
    state = "is not cached here and the hub cannot be reached" if is_offline else f"cannot be had from the hub{tries}"
    return f"{source.where}: the data set '{source.title}' {state}: {why}. {_elsewhere(source)}"


def _elsewhere(source: Source) -> str:
    """Where the same rows would be read without the hub."""
    files = [file for part in source.parts for file in flat(part.kwargs.get("data_files", []))]
    if files:
        copy = files[0].removeprefix(HUB) if files[0].startswith(HUB) else f"{source.path}/{files[0]}"
        return f"With data.root=DIR it is read from DIR/{copy}."
    folder = f"DIR/{source.path}/{source.name or 'default'}"
    return f"With data.root=DIR it is read from {folder}/SPLIT.jsonl (or json, csv, tsv, parquet, arrow)."
