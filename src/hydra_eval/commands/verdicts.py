"""Verdicts as a table, and what is wrong in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.table import Table

from hydra_eval.commands.validate import CHECKS, Verdict
from hydra_eval.errors import counted

SHOWN = 30
"""Tasks; of more, only those with an error are shown."""


def table(verdicts: Sequence[Verdict]) -> Table:
    """A mark per task and check: passed, failed, or not made because an earlier one failed."""
    shown = verdicts if len(verdicts) <= SHOWN else [verdict for verdict in verdicts if verdict.errors]
    marks = Table("task", *CHECKS, box=box.SIMPLE_HEAD, header_style="bold")
    for verdict in shown:
        marks.add_row(verdict.task, *(_mark(verdict, check) for check in CHECKS))
    return marks


def _mark(verdict: Verdict, check: str) -> str:
    return "✗" if check in verdict.errors else "✓" if check in verdict.passed else "–"


def messages(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """One line per error, then the count."""
    for verdict in verdicts:
        yield from (f"{verdict.task}: {check}: {error}" for check, error in verdict.errors.items())
    wrong = sum(bool(verdict.errors) for verdict in verdicts)
    yield f"{counted(len(verdicts), 'task')} checked, {wrong} with errors." if verdicts else "No task to check."
