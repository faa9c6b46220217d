"""What a person sees while a run goes on, and at its end. Silent on every rank but the main one."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from hydra_eval.console import notice_console, plain_console
from hydra_eval.dry_run.report import DryRun
from hydra_eval.dry_run.show import counts_table, first_prompts, forecast
from hydra_eval.errors import counted
from hydra_eval.fewshot import Picks
from hydra_eval.numerics.told import numerics_lines, numerics_warning
from hydra_eval.pipeline import Work
from hydra_eval.progress import followed
from hydra_eval.prompts.overflow import cut_line, is_default
from hydra_eval.records import Packet, SampleRow
from hydra_eval.resources import from_here
from hydra_eval.results.report import Results
from hydra_eval.results.tables import family_lines, metric_cells, result_tables
from hydra_eval.results.thinking import unclosed_lines
from hydra_eval.tasks.task import Task

log = logging.getLogger(__name__)

Advance: TypeAlias = Callable[[Packet], None]
A_FEW = 4


class Screen:
    """Progress and notices on stderr, tables on stdout; all but the bars is in the run's log too."""

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
            for line in (*describe_picks(task, work.picks[task.name]), *work.overflow[task.name].lines()):
                self.say(f"{task.name}: {line}")
        requests, packets = counted(work.requests, "request"), counted(len(work.packets), "packet")
        self.say(f"{requests} in {packets} on {counted(world, 'process', 'processes')}.")

    def say_cuts(self, overflow: Mapping[str, Mapping[str, Any]], rows: Mapping[str, Sequence[SampleRow]]) -> None:
        """Whose prompts lost tokens: a warning where nobody asked for that."""
        for task, facts in overflow.items():
            line = cut_line(facts, documents=len({row.doc_id for row in rows[task]}))
            if line and self._shown:
                log.log(logging.WARNING if is_default(facts) else logging.INFO, "%s: %s", task, line)

    def say_unclosed(self, thinking: Mapping[str, Mapping[str, int]]) -> None:
        """Whose replies ended in their reasoning."""
        for line in unclosed_lines(thinking) if self._shown else ():
            log.warning("%s", line)

    def say_numerics(self, numerics: Mapping[str, Any]) -> None:
        """What a second time in float32 changed; nothing where there was none."""
        for line in numerics_lines(numerics) if numerics else ():
            self.say(line)
        warning = numerics_warning(numerics) if numerics else None
        if warning and self._shown:
            log.warning("%s", warning)

    @contextmanager
    def counting(self, what: str, total: int) -> Iterator[Callable[[], None]]:
        """A bar over `total` things, where they are more than a few; moved on one by one."""
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=self._notices, disable=not self._shown or total <= A_FEW) as bar:
            bar_id = bar.add_task(what, total=total)
            yield lambda: bar.advance(bar_id)

    @contextmanager
    def progress(
        self,
        packets: Sequence[Packet],
        *,
        is_share: bool = False,
        compiles: bool = False,
        tokens: Callable[[], int] = lambda: 0,
    ) -> Iterator[Advance]:
        """How far this process is with its packets; `is_share`: others have packets of their own.

        `tokens` gives those that the model has run so far.
        """
        if not self._shown or not packets:
            yield lambda packet: None
            return
        label = "requests of the main process" if is_share else "requests"
        first = "the first pass, with compilation," if compiles else "the first pass"
        with followed(packets, self._notices, label=label, first=first, tokens=tokens) as advance:
            yield advance

    def show_results(self, results: Results, folder: Path, link: str | None) -> None:
        """The tables of all metrics, where the files are, and where the tracker shows them."""
        for _, row in results.in_order():
            for metric in row.metrics:
                log.debug("%s: %s", row.name, " ".join(metric_cells(metric)))
        for line in family_lines(results):
            log.debug("%s", line)
        for table in result_tables(results):
            self.show_table(table)
        with _lossy():
            self._tables.print(f"Files: {from_here(folder)}")
            if link:
                self._tables.print(f"W&B:   {link}")

    def show_dry_run(self, found: DryRun, folder: Path) -> None:
        """The table of all counts, what they come to, and the first prompts."""
        self.show_table(counts_table(found))
        with _lossy():
            for line in forecast(found):
                self._tables.print(line)
            for title, text in first_prompts(found):
                self._tables.print(f"\n{title}", style="bold")
                self._tables.print(text)
            self._tables.print(f"\nFiles: {from_here(folder)}")

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


def describe_picks(task: Task, picks: Picks) -> list[str]:
    """What is not as it was asked for."""
    lines = []
    if picks.replaced:
        stands = "another stands in its place" if picks.replaced == 1 else "others stand in their place"
        lines.append(f"{counted(picks.replaced, 'example was', 'examples were')} the document itself; {stands}.")
    if picks.short:
        documents = counted(picks.short, "document has", "documents have")
        shown = [len(picks.shots[doc.index]) for doc in task.docs]
        fewest, most = min(shown), max(count for count in shown if count < task.shots.n)
        counts = str(fewest) if fewest == most else f"{fewest} to {most}"
        lines.append(f"{documents} fewer examples than {task.shots.n}: {counts}, all that there are for them.")
    return lines


def describe_task(task: Task) -> str:
    """Documents, shots and their source in one line."""
    total, used = len(task.all_docs), len(task.docs)
    documents = counted(used, "document") if used == total else f"{used} of {counted(total, 'document')}"
    if task.shots.n == 0:
        return f"{documents}, 0 shots"
    shots = counted(task.shots.n, "shot")
    return f"{documents}, {shots} from {task.shots.pool_split or 'its samples'} ({task.shots.strategy})"
