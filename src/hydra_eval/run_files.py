"""Files of the run folder. Each appears whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hydra_eval.errors import UserError
from hydra_eval.file_names import samples_name
from hydra_eval.records import SampleRow
from hydra_eval.sample_file import as_plain, sample_line


def write_samples(folder: Path, task: str, rows: Sequence[SampleRow]) -> Path:
    """`samples_<task>.jsonl`, one line per document and filter."""
    return write_lines(folder / samples_name(task), map(sample_line, rows))


def write_results(folder: Path, results: Mapping[str, Any]) -> Path:
    """`results.json`, two-space indent as in lm-eval."""
    return write_lines(folder / "results.json", [json.dumps(results, indent=2, ensure_ascii=False, default=as_plain)])


def write_dry_run(folder: Path, content: Mapping[str, Any]) -> Path:
    """`dry_run.json`."""
    return write_lines(folder / "dry_run.json", [json.dumps(content, indent=2, ensure_ascii=False, default=as_plain)])


def write_ids(folder: Path, ids: Mapping[str, Sequence[int]]) -> Path:
    """`sample_ids.json`, task → document numbers: what lm-eval's `--samples` and our `sample_ids=` take."""
    return write_lines(folder / "sample_ids.json", [json.dumps(ids, ensure_ascii=False)])


def write_lines(path: Path, lines: Iterable[str]) -> Path:
    """Write beside the place, flush to disk, then move there. Raises UserError naming the path where that fails.

    Half a surrogate pair, which UTF-8 cannot hold, becomes the escape that JSON has for it.
    """
    draft = path.with_name(f".{path.name}.draft")
    try:
        with draft.open("w", encoding="utf-8", errors="backslashreplace") as handle:
            handle.writelines(f"{line}\n" for line in lines)
            handle.flush()
            os.fsync(handle.fileno())
        draft.replace(path)
    except OSError as error:
        raise UserError(
            f"{path}: cannot be written: {error.strerror}. Free some space or choose hydra.run.dir."
        ) from error
    return path
