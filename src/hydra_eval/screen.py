"""What a person sees while a run goes on, and at its end. Silent on every rank but the main one."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from rich import box
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from hydra_eval.aggregate import MetricResult, TaskResult
from hydra_eval.console import notice_console, plain_console
from hydra_eval.groups import GroupResult, Results
from hydra_eval.pipeline import Work
from hydra_eval.records import Packet
from hydra_eval.resources import from_here
from hydra_eval.tasks.task import Task

log = logging.getLogger(__name__)

Advance: TypeAlias = Callable[[Packet], None]
A_FEW = 4
ARROWS = {True: "↑", False: "↓", None: ""}


class Screen:
    """Progress and notices on stderr, tables on stdout; all but the bar is in the run's log too."""

    def __init__(self, *, shown: bool) -> None:
        self._shown = shown
        self._notices = notice_console(quiet=not shown)
        self._tables = plain_console(quiet=not shown)

    def say(self, text: str) -> None:
        """A notice, on stderr and in the run's log."""
        if self._shown:
            log.info("%s", text)

    def say_plan(self, work: Work, world: int) -> None:
        """How much there is to do, before the model loads."""
        for task in work.tasks:
            self.say(f"{task.name}: {describe_task(task)}")
            replaced = work.picks[task.name].replaced
            if replaced:
                self.say(f"{task.name}: {replaced} examples were the document itself; others stand in their place.")
        processes = "1 process" if world == 1 else f"{world} processes"
        self.say(f"{work.requests} requests in {len(work.packets)} packets on {processes}.")

    @contextmanager
    def counting(self, what: str, total: int) -> Iterator[Callable[[], None]]:
        """A bar over `total` things, where they are more than a few; moved on one by one."""
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=self._notices, disable=not self._shown or total <= A_FEW) as bar:
            bar_id = bar.add_task(what, total=total)
            yield lambda: bar.advance(bar_id)

    @contextmanager
    def progress(self, packets: Sequence[Packet]) -> Iterator[Advance]:
        """A bar over this rank's requests, moved on packet by packet."""
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )
        total = sum(len(packet.instances) for packet in packets)
        with Progress(*columns, console=self._notices, disable=not self._shown) as bar:
            bar_id = bar.add_task("requests", total=total)
            yield lambda packet: bar.advance(bar_id, len(packet.instances))

    def show_results(self, results: Results, folder: Path, link: str | None) -> None:
        """The table of all metrics, where the files are, and where the tracker shows them."""
        for _, row in results.in_order():
            for metric in row.metrics:
                log.debug("%s: %s", row.name, " ".join(_metric_cells(metric)))
        self.show_table(results_table(results))
        with _lossy():
            self._tables.print(f"Files: {from_here(folder)}")
            if link:
                self._tables.print(f"W&B:   {link}")

    def show_table(self, table: Table) -> None:
        with _lossy():
            self._tables.print(table)


@contextmanager
def _lossy() -> Iterator[None]:
    """A closed pipe or a full disk behind stdout costs what is shown, not the run: its files are written by now."""
    try:
        yield
    except (OSError, SystemExit, ValueError) as error:  # a broken pipe (rich makes a SystemExit of it), a closed stream
        log.warning("Standard output takes no more (%s); the run folder holds everything.", type(error).__name__)


def describe_task(task: Task) -> str:
    """Documents, shots and their source in one line."""
    total, used = len(task.all_docs), len(task.docs)
    documents = f"{used} documents" if used == total else f"{used} of {total} documents"
    if task.shots.n == 0:
        return f"{documents}, 0 shots"
    return f"{documents}, {task.shots.n} shots from {task.shots.pool_split or 'its samples'} ({task.shots.strategy})"


def results_table(results: Results) -> Table:
    """One line per task or group, filter and metric, with its standard error; members stand below their group."""
    table = Table(box=box.SIMPLE_HEAD, header_style="bold")
    for name in ("task", "version", "shots", "filter", "n", "metric", "value", "stderr"):
        table.add_column(name, justify="right" if name in ("shots", "n", "value", "stderr") else "left")
    ordered = results.in_order()
    for place, (depth, row) in enumerate(ordered):
        head = ("  " * depth + results.alias(row), *_version_and_shots(row))
        for metric in row.metrics:
            table.add_row(*head, *_metric_cells(metric))
            head = ("", "", "")
        if not row.metrics:
            table.add_row(*head)
        if ordered[place + 1 : place + 2] == [] or ordered[place + 1][0] == 0:
            table.add_section()
    return table


def _version_and_shots(row: TaskResult | GroupResult) -> tuple[str, str]:
    if isinstance(row, GroupResult):
        return row.plan.version, "" if row.plan.shots is None else str(row.plan.shots)
    return str(row.task.version), str(row.task.shots.n)


def _metric_cells(metric: MetricResult) -> tuple[str, ...]:
    name = f"{metric.metric} {ARROWS[metric.higher_is_better]}".rstrip()
    error = "" if metric.stderr is None else f"± {metric.stderr:.4f}"
    return (metric.filter, str(metric.n), name, number(metric.value), error)


def number(value: Any) -> str:
    return f"{value:.4f}" if isinstance(value, float | int) else str(value)
