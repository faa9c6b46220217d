"""Standard output for tables."""

from __future__ import annotations

from rich.console import Console

WIDEST = 1_000
"""Columns of a table: a narrow screen may wrap its lines, but must not cut a name or a number."""


def plain_console(*, quiet: bool = False) -> Console:
    """Shows names letter by letter: `[a]` in one is no markup, `:cat:` no picture."""
    return Console(quiet=quiet, soft_wrap=True, highlight=False, markup=False, emoji=False, width=WIDEST)
