"""What a comparison of two programs' prompts found, and how it is told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, takewhile
from typing import Any

from hydra_eval.errors import UserError

from .sides import Seen


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One task with one number of examples and one wording."""

    task: str
    wording: str = "plain"
    shots: str = "-"
    docs: int = 0
    leaking: int = 0
    """Documents that lm-eval shows among their own examples, and we do not."""
    ids: int = 0
    """Requests whose token ids were compared."""
    wrong: tuple[str, ...] = ()
    """What differs and should not."""
    skipped: str | None = None

    @property
    def different(self) -> int:
        return len(self.wrong)

    @property
    def equal(self) -> int:
        return self.docs - self.leaking - self.different


def compared(theirs: Seen, ours: Seen) -> tuple[str, ...]:
    """What differs and should not: only the prompts that hold their own document may, and those must."""
    wrong = [f"document {number} is in one program only" for number in sorted(set(theirs.docs) ^ set(ours.docs))]
    for number in sorted(set(theirs.docs) & set(ours.docs)):
        wrong += _document(number, theirs, ours)
    leaks = sum(theirs.leaks.values())
    if leaks != ours.replaced:
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


ON_PURPOSE = ("not supported", "other row")
"""Kinds of tasks that we do not run; a pool so small that lm-eval shows a document to itself."""


def refused(verdict: Verdict, error: UserError) -> Verdict:
    """What is refused on purpose is left out, and named; any other refusal is a difference."""
    if any(reason in str(error) for reason in ON_PURPOSE):
        return replace(verdict, docs=0, skipped=f"hydra-eval: {short(error)}")
    return replace(verdict, wrong=(f"refused: {error}",))


def short(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".replace("\n", " ")[:160]


# --- a table ---

OF_THEIR_OWN = ("plain", "scores")
HEADS = ("task", "wording", "shots", "docs", "equal", "leak replaced", "different", "ids", "")
WIDTHS = (30, 12, 8, 6, 6, 13, 9, 7, 0)


def rows(verdicts: Iterable[Verdict]) -> Iterator[tuple[str, ...]]:
    """One row per task and number of examples for plain prompts, and one for all other wordings together."""
    ordered = sorted(verdicts, key=lambda one: (one.task, one.wording == "scores", one.shots, one.wording != "plain"))
    for (task, shots, kind), group in groupby(ordered, key=lambda one: (one.task, one.shots, _kind(one))):
        several = list(group)
        name = kind if kind in OF_THEIR_OWN else f"{len(several)} wordings"
        told = ("docs", "equal", "leaking", "different", "ids")
        counts = [sum(getattr(one, what) for one in several) for what in told]
        skipped = next((one.skipped for one in several if one.skipped), None)
        yield (task, name, shots, *map(str, counts), f"skipped: {skipped}" if skipped else "")


def _kind(verdict: Verdict) -> str:
    return verdict.wording if verdict.wording in OF_THEIR_OWN else "other wordings"


def line(cells: Sequence[str]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, WIDTHS, strict=True)).rstrip()


def told(verdicts: Sequence[Verdict], *, shown: int) -> Iterator[str]:
    """The rows, and below them the first differences of each."""
    yield from map(line, rows(verdicts))
    for one in verdicts:
        yield from (f"    {one.wording}, {one.shots} shots: {text}" for text in one.wrong[:shown])


def summary(verdicts: Sequence[Verdict]) -> str:
    """Everything in one line."""
    seen = [one for one in verdicts if not one.skipped]
    tasks, wordings = {one.task for one in seen}, {one.wording for one in seen}
    counts = {what: sum(getattr(one, what) for one in seen) for what in ("docs", "different", "leaking", "ids")}
    return (
        f"{len(tasks)} tasks, {len(wordings)} wordings, {counts['docs']} prompts: {counts['different']} different; "
        f"{counts['leaking']} with an example that lm-eval leaks; token ids of {counts['ids']} requests compared"
    )
