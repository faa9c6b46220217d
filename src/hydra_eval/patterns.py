"""Regular expressions that come out of configs."""

from __future__ import annotations

import re
from typing import Any

from hydra_eval.errors import UserError


def compile_pattern(pattern: Any) -> re.Pattern[str]:
    """The compiled pattern; a UserError that shows pattern and fault where it is none."""
    if not isinstance(pattern, str):
        raise UserError(f"{pattern!r} must be text: a regular expression in quotes")
    try:
        return re.compile(pattern)
    except re.error as error:
        raise UserError(f"{pattern!r} is not a regular expression: {error}") from error


def compile_patterns(patterns: Any) -> tuple[re.Pattern[str], ...]:
    """Several patterns in order; one in place of a list is one pattern, not a list of its letters."""
    if patterns is None:
        return ()
    several = patterns if isinstance(patterns, list | tuple) else (patterns,)
    return tuple(compile_pattern(pattern) for pattern in several)
