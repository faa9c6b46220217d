"""Standard output for tables, standard error for notices."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import IO, Any, cast

from rich.console import Console

WIDEST = 1_000
"""Columns of a table: a narrow screen may wrap its lines, but must not cut a name or a number."""


def plain_console(*, quiet: bool = False) -> Console:
    """Shows names letter by letter: `[a]` in one is no markup, `:cat:` no picture."""
    return Console(quiet=quiet, soft_wrap=True, highlight=False, markup=False, emoji=False, width=WIDEST)


def notice_console(*, quiet: bool) -> Console:
    """For progress, which may end before the run does: the reader of the pipe goes, or the log's disk is full."""
    return Console(file=cast(IO[str], Forgiving(sys.stderr)), quiet=quiet, soft_wrap=True, highlight=False)


class Forgiving:
    """A stream that loses what it cannot write."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with suppress(OSError, ValueError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
