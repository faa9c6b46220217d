"""Names of files in the run folder that follow the names of tasks."""

from __future__ import annotations

import hashlib
import re

LONGEST = 200
"""File systems end at 255 bytes; a draft's name is a little longer than its file's."""


def samples_name(task: str) -> str:
    """`samples_<task>.jsonl`, with `_` for what file names cannot carry; a hash stands for the end of a long name."""
    name = re.sub(r"[^A-Za-z0-9_.=-]", "_", task)
    if len(name) > LONGEST:
        name = f"{name[:LONGEST]}-{hashlib.sha256(task.encode()).hexdigest()[:8]}"
    return f"samples_{name}.jsonl"
