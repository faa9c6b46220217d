# ruff: noqa: T201
"""Every prompt of every lm-eval task whose data is at hand, in both programs. No model is needed.

    python -m tests.parity.prompts [--data ROOT] [--tasks GLOB] [--limit N]

from the repository's root, with the extra `parity` installed. Plain prompts are compared for all documents, those with
a system text or a chat template for the first 200. Exit code 1 where anything differs that should not.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from itertools import groupby, takewhile
from pathlib import Path
from typing import Any

from hydra_eval.errors import UserError

from .catalogue import Found, found_below
from .sides import PLAIN, Seen, Wording, our_task, our_work, seen_by_lm_eval, seen_by_us, their_task
from .standins import stood_in_for
from .wordings import chat_wordings

SHOTS = (0, None, 3)
"""None: the task's own number."""
SHOWN = 3
WORDED_DOCS = 200
"""Documents per task under another wording than plain: the same examples, with something else between them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One task with one number of examples and one wording."""

    task: str
    wording: str = "plain"
    shots: str = "-"
    docs: int = 0
    leaking: int = 0
    """Documents that lm-eval shows among their own examples, and we do not."""
    wrong: tuple[str, ...] = ()
    """What differs and should not."""
    skipped: str | None = None

    @property
    def different(self) -> int:
        return len(self.wrong)

    @property
    def equal(self) -> int:
        return self.docs - self.leaking - self.different


def compared(theirs: Seen, ours: Seen, *, complete: bool = True) -> tuple[str, ...]:
    """What differs and should not: only the prompts that hold their own document may, and those must.

    `complete`: all documents of the task were asked, so that the examples we replaced can be counted.
    """
    wrong = [f"document {number} is in one program only" for number in sorted(set(theirs.docs) ^ set(ours.docs))]
    for number in sorted(set(theirs.docs) & set(ours.docs)):
        wrong += _document(number, theirs, ours)
    leaks = sum(theirs.leaks.values())
    if complete and leaks != ours.replaced:
        wrong.append(f"{leaks} examples leak in lm-eval, {ours.replaced} were replaced")
    return tuple(wrong)


def _document(number: int, theirs: Seen, ours: Seen) -> Iterator[str]:
    one, other = theirs.docs[number], ours.docs[number]
    differing = [name for name in ("doc_hash", "target_hash") if getattr(one, name) != getattr(other, name)]
    if number in theirs.leaks:
        if one.prompt_hash == other.prompt_hash:
            yield f"document {number} is its own example"
    elif one.prompt_hash != other.prompt_hash or one.arguments != other.arguments:
        differing.append("prompt" if one.prompt_hash != other.prompt_hash else "arguments")
    if differing:
        yield f"document {number}: {', '.join(differing)}: {first_difference(one.arguments, other.arguments)}"


def first_difference(theirs: Any, ours: Any) -> str:
    """The place where two values part, short enough for a line."""
    if isinstance(theirs, tuple | list) and isinstance(ours, tuple | list) and len(theirs) == len(ours):
        pairs = zip(theirs, ours, strict=True)
        return next((first_difference(a, b) for a, b in pairs if a != b), "the same arguments")
    if isinstance(theirs, str) and isinstance(ours, str):
        same = takewhile(lambda pair: pair[0] == pair[1], zip(theirs, ours, strict=False))
        start = max(0, sum(1 for _ in same) - 30)
        return f"lm-eval …{theirs[start : start + 90]!r}, hydra-eval …{ours[start : start + 90]!r}"
    return f"lm-eval {theirs!r:.150}, hydra-eval {ours!r:.150}"


def compare_task(found: Found, root: Path, **options: Any) -> list[Verdict]:
    """One verdict per number of examples and wording; a single one where the task cannot be loaded.

    `options`: those of `compare_loaded`.
    """
    if found.reason:
        return [Verdict(task=found.task.name, skipped=found.reason)]
    with stood_in_for():
        try:
            theirs = their_task(found.task, found.files)
        except Exception as error:  # noqa: BLE001 - whatever a task's own code raises
            return [Verdict(task=found.task.name, skipped=f"lm-eval: {short(error)}")]
        return list(compare_loaded(found, theirs, root, **options))


def compare_loaded(
    found: Found,
    theirs: Any,
    root: Path,
    *,
    wordings: Sequence[Wording] = (PLAIN,),
    shots: Sequence[int | None] = SHOTS,
    limit: int | None = None,
) -> Iterator[Verdict]:
    """`theirs` is lm-eval's task on the same files."""
    for number in numbers_of_shots(theirs.config.num_fewshot, shots):
        for wording in wordings:
            docs = limit if wording is PLAIN else min(limit or WORDED_DOCS, WORDED_DOCS)
            yield _verdict(found, theirs, root, shots=number, wording=wording, limit=docs)


def numbers_of_shots(own: int | None, wanted: Sequence[int | None]) -> list[int]:
    """Each number once: a task that says 0 keeps it."""
    numbers = [(own or 0) if own == 0 or shots is None else shots for shots in wanted]
    return list(dict.fromkeys(numbers))


def _verdict(found: Found, theirs: Any, root: Path, *, shots: int, wording: Wording, limit: int | None) -> Verdict:
    own = " (own)" if shots == (theirs.config.num_fewshot or 0) else ""
    here = Verdict(task=found.task.name, wording=wording.name, shots=f"{shots}{own}")
    try:
        expected = seen_by_lm_eval(theirs, shots=shots, wording=wording, limit=limit)
    except Exception as error:  # noqa: BLE001 - whatever a task's own code raises
        return replace(here, skipped=f"lm-eval: {short(error)}")
    try:
        task = our_task(found.task, root, shots=shots, limit=limit)
        ours = seen_by_us(task, our_work(task, wording))
    except UserError as error:
        return refused(replace(here, docs=len(expected.docs)), error)
    wrong = compared(expected, ours, complete=len(task.docs) == len(task.all_docs))
    return replace(here, docs=len(expected.docs), leaking=len(expected.leaks), wrong=wrong)


ON_PURPOSE = ("not supported", "other rows are in the pool")
"""Kinds of tasks that we do not run; a pool so small that lm-eval shows a document to itself."""


def refused(verdict: Verdict, error: UserError) -> Verdict:
    """What is refused on purpose is left out, and named; any other refusal is a difference."""
    if any(reason in str(error) for reason in ON_PURPOSE):
        return replace(verdict, docs=0, skipped=f"hydra-eval: {short(error)}")
    return replace(verdict, wrong=(f"refused: {error}",))


def short(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".replace("\n", " ")[:160]


def rows(verdicts: Iterable[Verdict]) -> Iterator[tuple[str, ...]]:
    """One row per task and number of examples for plain prompts, and one for all other wordings together."""
    for (task, shots, kind), group in groupby(verdicts, key=lambda one: (one.task, one.shots, kind_of(one))):
        several = list(group)
        name = kind if kind in OF_THEIR_OWN else f"{len(several)} wordings"
        counts = [sum(getattr(one, what) for one in several) for what in ("docs", "equal", "leaking", "different")]
        skipped = next((one.skipped for one in several if one.skipped), None)
        yield (task, name, shots, *map(str, counts), f"skipped: {skipped}" if skipped else "")


OF_THEIR_OWN = ("plain", "scores")


def kind_of(verdict: Verdict) -> str:
    return verdict.wording if verdict.wording in OF_THEIR_OWN else "other wordings"


HEADS = ("task", "wording", "shots", "docs", "equal", "leak replaced", "different", "")
WIDTHS = (30, 10, 8, 6, 6, 13, 9, 0)


def line(cells: Sequence[str]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, WIDTHS, strict=True)).rstrip()


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="data sets in the hub's layout")
    parser.add_argument("--tasks", default="*", help="names of tasks, with * and ?")
    parser.add_argument("--limit", type=int, help="documents per task; default: all")
    parser.add_argument("--plain", action="store_true", help="no chat templates")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    args = parse(argv)
    logging.disable(logging.WARNING)
    wordings = (PLAIN,) if args.plain else (PLAIN, *chat_wordings())
    print(line(HEADS))
    wrong = 0
    for found in found_below(args.data):
        if fnmatch(found.task.name, args.tasks):
            verdicts = compare_task(found, args.data, wordings=wordings, limit=args.limit)
            print(*map(line, rows(verdicts)), sep="\n")
            print(*(f"    {text}\n" for one in verdicts for text in one.wrong[:SHOWN]), sep="", end="", flush=True)
            wrong += any(one.wrong for one in verdicts)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
