"""The one error type for what a user can mend, and look-ups that say what would do."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

SHOWN_NAMES = 30
OURS = str(Path(__file__).parent)
LM_EVAL_TASKS = "/lm_eval/tasks/"
"""In the paths of task code that comes with lm-eval."""


class UserError(Exception):
    """Something the user can mend: the message says what, where, what was given and what would do."""


class OutOfMemory(UserError):
    """One request alone takes more memory than there is."""


def did_you_mean(name: str, known: Iterable[str], *, count: int = 1) -> str:
    """A sentence with the nearest known names, led by a blank, or nothing where no name is near."""
    near = get_close_matches(name, sorted(known), n=count, cutoff=0.6)
    return f" Did you mean {' or '.join(repr(match) for match in near)}?" if near else ""


def known_names(known: Iterable[str], *, shown: int = SHOWN_NAMES) -> str:
    """The known names in alphabetical order, cut after `shown` of them."""
    names = sorted(known)
    more = f", … ({len(names) - shown} more)" if len(names) > shown else ""
    return ", ".join(names[:shown]) + more


def counted(number: int, one: str, several: str | None = None) -> str:
    """`1 row`, `2,000 rows`; `several` where it is more than an s."""
    return f"{number:,} {one if number == 1 else several or f'{one}s'}"


def lookup(table: Mapping[str, T], name: str, *, kind: str, where: str) -> T:
    """`table[name]`, or a UserError that names the nearest and the known entries."""
    if name in table:
        return table[name]
    raise UserError(f"{where}: unknown {kind} '{name}'.{did_you_mean(name, table)} Known: {known_names(table)}.")


def line_of(error: BaseException) -> str | None:
    """`FILE, line N` of the task code that raised, or that called what raised; else of the innermost code."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith("<")]
    own = [frame for frame in frames if _is_task_code(frame.filename)] or frames
    return f"{own[-1].filename}, line {own[-1].lineno}" if own else None


def _is_task_code(file: str) -> bool:
    """Neither ours nor installed."""
    return LM_EVAL_TASKS in file or not file.startswith((OURS, sys.prefix, sys.base_prefix))


@contextmanager
def _no_exit() -> Iterator[None]:
    """Code of a task that ends the program is an error like any other: it must not pass for success."""
    try:
        yield
    except SystemExit as error:
        raise RuntimeError(f"SystemExit: {error.code}").with_traceback(error.__traceback__) from error


@contextmanager
def noted(note: str) -> Iterator[None]:
    """Adds where it happened to an error of the user's own code, whose trace is shown."""
    try:
        with _no_exit():
            yield
    except Exception as error:
        error.add_note(note)
        raise


@contextmanager
def at_document(task: str, index: int) -> Iterator[None]:
    """Names the document in whatever is raised inside: in the message of a UserError, as a note to any other error."""
    try:
        with _no_exit():
            yield
    except UserError as error:
        raise UserError(f"{error} (task '{task}', document {index})") from error
    except Exception as error:
        error.add_note(f"in task '{task}', document {index}")
        raise
