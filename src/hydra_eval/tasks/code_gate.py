"""Tasks that run code which the model wrote: only where the user says so. Asked before any of their code is loaded."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from hydra_eval.errors import UserError

VARIABLE = "HF_ALLOW_CODE_EVAL"
"""Asked for by `code_eval` of the library `evaluate`, which lm-eval's own tasks use."""


def check_code_gate(tasks: Mapping[str, Mapping[str, Any]], *, allowed: bool) -> None:
    """Raises UserError for tasks with `unsafe_code: true`, unless `allow_code_execution=true` allows them."""
    unsafe = [content for content in tasks.values() if content.get("unsafe_code")]
    if unsafe and not allowed:
        refuse_code(unsafe[0].get("file", "task"), [str(content.get("task")) for content in unsafe])
    if unsafe:
        os.environ[VARIABLE] = "1"


def refuse_code(where: str, names: list[str]) -> None:
    raise UserError(
        f"{where}: {' and '.join(map(repr, names))} run{'s' if len(names) == 1 else ''} code that the model wrote, on "
        "this machine and with your rights. If that is what you want (best in a container): allow_code_execution=true"
    )
