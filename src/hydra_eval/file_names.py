"""Names of files in the run folder that follow the names of tasks."""

from __future__ import annotations

import re


def samples_name(task: str) -> str:
    """`samples_<task>.jsonl`, with `_` for what file names cannot carry."""
    return f"samples_{re.sub(r'[^A-Za-z0-9_.=-]', '_', task)}.jsonl"
