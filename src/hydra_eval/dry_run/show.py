"""A dry run on the screen: one table for all tasks, then the first prompts."""

from __future__ import annotations

from collections.abc import Iterator

from rich import box
from rich.table import Table

from hydra_eval.dry_run.counts import Counts
from hydra_eval.dry_run.preview import Section, sections
from hydra_eval.dry_run.report import DryRun, DryTask, shown_rows
from hydra_eval.errors import counted

PROMPTS = 3
"""Tasks whose first prompt is shown; those of all are in the file."""
LINES = 16
"""Of a text or a list of ids on the screen."""
REQUESTS = 4
"""Of one document on the screen."""
COLUMNS = ("rows", "requests", "prompt", "scored", "reply ≤", "longest", "too long", "to run", "shared", "saved")


def counts_table(found: DryRun) -> Table:
    """Tokens by task; `to run` is what goes in before any reply, `shared` the same with common beginnings run once."""
    table = Table("task", box=box.SIMPLE_HEAD, header_style="bold")
    for name in COLUMNS:
        table.add_column(name, justify="right")
    for task in found.tasks:
        table.add_row(task.name, *_cells(task.counts, task.overflow["documents"]))
    if len(found.tasks) > 1:
        table.add_section()
        table.add_row("all", *_cells(found.total, sum(task.overflow["documents"] for task in found.tasks)))
    return table


def forecast(found: DryRun) -> list[str]:
    """What it comes to, in lines."""
    total, window = found.total, found.encoder.max_length
    lines = [f"Model: {found.model}, a window of {window:,} tokens."]
    replies = f", and up to {counted(total.reply_tokens, 'token')} of replies" if total.reply_tokens else ""
    lines.append(
        f"To run: {total.run_tokens:,} tokens; {total.shared_tokens:,} where common beginnings run once{replies}."
    )
    lines += [line for task in found.tasks for line in _too_long(task)]
    return lines + ([f"No effect: {line}" for line in found.unused])


def first_prompts(found: DryRun) -> Iterator[Section]:
    """The first document of the first tasks."""
    for task in found.tasks[:PROMPTS]:
        yield from _first(task, found)
    if len(found.tasks) > PROMPTS:
        yield counted(len(found.tasks) - PROMPTS, "more task"), "What is asked first is in dry_run.json."


def _first(task: DryTask, found: DryRun) -> Iterator[Section]:
    split, position = task.first.doc.origin
    rows = ", ".join(shown_rows(task.first))
    yield (
        f"{task.name}: document {task.first.doc.index} ({split}, row {position})",
        f"{counted(len(task.first.shots), 'example')}{': ' if rows else ''}{rows}",
    )
    for preview in task.previews[:REQUESTS]:
        yield from sections(preview, found.encoder.tokenizer, lines=LINES)
    if len(task.previews) > REQUESTS:
        yield counted(len(task.previews) - REQUESTS, "more request"), "All are in dry_run.json."


def _cells(counts: Counts, too_long: int) -> tuple[str, ...]:
    numbers = (counts.rows, counts.requests, counts.prompt_tokens, counts.scored_tokens, counts.reply_tokens)
    shared = (f"{counts.run_tokens:,}", f"{counts.shared_tokens:,}", f"{counts.saved:.1%}")
    return (*(f"{number:,}" for number in numbers), f"{counts.longest:,}", f"{too_long:,}", *shared)


def _too_long(task: DryTask) -> Iterator[str]:
    facts = task.overflow
    parts = (
        (facts["documents_with_fewer_shots"], f"with {counted(facts['shots_dropped'], 'fewer example')}"),
        (facts["documents_cut"], f"cut by {counted(facts['tokens_cut'], 'token')}"),
        (facts["documents_skipped"], "left out"),
    )
    told = [f"{count:,} {what}" for count, what in parts if count]
    if told:
        policy = ",".join(facts["policy"])
        yield f"{task.name}: documents too long: {', '.join(told)} (prompt.overflow=[{policy}])."
