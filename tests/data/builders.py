"""Task configs, data files in every format, and what is read from them."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hydra_eval.config.schema import DataConfig
from hydra_eval.config.task_config import TaskConfig
from hydra_eval.data.load import load
from hydra_eval.data.resolve import source_of
from hydra_eval.data.rows import split_rows

from ..toys import Rows, write_rows

ROWS: Rows = ({"text": 'one\tand, "two"', "n": 1}, {"text": "zwei\u2028", "n": 2})


def task(path: str | None, folder: Path, **changes: Any) -> TaskConfig:
    given: dict[str, Any] = {"test_split": "test", **changes}
    return TaskConfig(task="t", file=str(folder / "t.yaml"), dataset_path=path, **given)


def splits(config: TaskConfig, **data: Any) -> dict[str, list[dict[str, Any]]]:
    """Split → rows, as a run would read them."""
    loaded = load(source_of(config, DataConfig(**data)))
    return {split: list(split_rows(loaded, split, None, where=config.file).rows) for split in loaded.splits}


def rows(config: TaskConfig, *, split: str = "test", **data: Any) -> list[dict[str, Any]]:
    loaded = load(source_of(config, DataConfig(**data)))
    return list(split_rows(loaded, split, config.process_docs, where=config.file).rows)  # type: ignore[arg-type]


def write_csv(path: Path, separator: str) -> None:
    with path.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.DictWriter(handle, list(ROWS[0]), delimiter=separator)
        writer.writeheader()
        writer.writerows(ROWS)


def write_arrow(path: Path) -> None:
    from datasets.arrow_writer import ArrowWriter

    with ArrowWriter(path=str(path)) as writer:
        for row in ROWS:
            writer.write(row)
        writer.finalize()


def write_parquet(path: Path) -> None:
    from datasets import Dataset

    Dataset.from_list(list(ROWS)).to_parquet(path)


def packed(write: Callable[[Path], Any]) -> Callable[[Path], None]:
    """The same file, packed with gzip."""

    def write_packed(path: Path) -> None:
        plain = path.with_suffix("")
        write(plain)
        path.write_bytes(gzip.compress(plain.read_bytes()))
        plain.unlink()

    return write_packed


PLAIN: Mapping[str, Callable[[Path], Any]] = {
    "jsonl": lambda path: write_rows(path, ROWS),
    "json": lambda path: path.write_text(json.dumps(ROWS), encoding="utf-8"),
    "csv": lambda path: write_csv(path, ","),
    "tsv": lambda path: write_csv(path, "\t"),
}
FORMATS: Mapping[str, Callable[[Path], Any]] = {
    **PLAIN,
    "parquet": write_parquet,
    "arrow": write_arrow,
    **{f"{ending}.gz": packed(write) for ending, write in PLAIN.items()},
}
"""File ending → writes `ROWS` in that format."""


def saved(**rows_of: Rows) -> Any:
    """A `DatasetDict`, to be saved."""
    from datasets import Dataset, DatasetDict

    return DatasetDict({split: Dataset.from_list(list(rows)) for split, rows in rows_of.items()})


@contextmanager
def without_rights(path: Path) -> Iterator[None]:
    """The file cannot be read within, not even by the superuser."""
    import os

    path.chmod(0)
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)
        path.chmod(0o644)
