"""Figures and verdicts for a person."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from benchmarks.peers.bounds import GIB, Verdict
from benchmarks.peers.order import Figures
from benchmarks.peers.processes import Outcome

HEADS = (
    "program",
    "batch size",
    "load s",
    "process s",
    "request s",
    "CPU s",
    "peak GiB, requests",
    "peak GiB, process",
    "positions",
    "positions per s",
    "logit rows",
    "row-steps",
    "× ours",
)
WIDTH = 160


def console() -> Console:
    """The same width in a terminal and in a file."""
    return Console(width=WIDTH, highlight=False)


def figures_table(title: str, ours: Outcome | None, peers: Sequence[Outcome]) -> Table:
    """One row per process, those marked that were measured before. Last, its request phase over ours."""
    table = Table(*HEADS, title=title, title_justify="left")
    base = ours.figures.request_s if ours and ours.figures else None
    for outcome in [*([ours] if ours else []), *peers]:
        batch = "own" if outcome.order.batch is None else str(outcome.order.batch)
        cells = _cells(outcome.figures, outcome.seconds, base) if outcome.figures else [_why(outcome.failure)]
        table.add_row(outcome.order.who + (" (before)" if outcome.is_reused else ""), batch, *cells)
    return table


def verdict_lines(verdicts: Sequence[Verdict]) -> list[str]:
    return [f"  {'holds' if one.holds else 'FAILS'}  {one.bound}: {one.said}" for one in verdicts]


def _cells(figures: Figures, seconds: float, base: float | None) -> list[str]:
    return [
        f"{figures.load_s:.1f}",
        f"{seconds:.1f}",
        f"{figures.request_s:.2f}",
        f"{figures.cpu_s:.2f}",
        f"{figures.request_peak / GIB:.2f}",
        f"{figures.process_peak / GIB:.2f}",
        f"{figures.positions:,}",
        f"{figures.positions_per_second:,.0f}",
        f"{figures.logit_rows:,}",
        f"{figures.row_steps:,}",
        f"{figures.request_s / base:.2f}" if base else "",
    ]


def _why(failure: str) -> str:
    """Its first line; all of it was shown when it failed."""
    return failure.partition("\n")[0]
