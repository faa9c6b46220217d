"""A function of the user's own as a strategy: `(pool, doc, n, seed) -> places in that pool`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral
from textwrap import shorten
from typing import Any

from hydra_eval.errors import UserError, noted
from hydra_eval.fewshot.picks import Candidates, Draw, Free
from hydra_eval.records import Doc


def by_function(draw: Draw) -> Candidates:
    """Asks the function for each document. The rows it sees are copies, without those that leak."""
    plan = draw.plan
    assert plan.function is not None
    function = plan.function
    rows = [dict(shot.row) for shot in plan.pool]
    suspects = draw.guard.suspects(plan.pool)

    def candidates(doc: Doc, free: Free) -> Iterable[Doc]:
        leaking = sorted({place for place in suspects(doc) if draw.leaks(plan.pool[place], doc)})
        pool = rows.copy()
        for place in reversed(leaking):
            del pool[place]
        with noted(f"in fewshot.strategy={plan.strategy}, called for document {doc.index} of '{doc.task}'"):
            given = function(pool, dict(doc.row), plan.n, plan.seed)
        wrong = _wrong(given, rows=len(rows) - len(leaking), n=plan.n)
        if wrong:
            raise UserError(f"fewshot.strategy={plan.strategy} {wrong}, but gave {shorten(repr(given), 200)}.")
        return [plan.pool[_in_whole_pool(int(number), leaking)] for number in given]

    return candidates


def _in_whole_pool(place: int, gone: Sequence[int]) -> int:
    """The place in the pool of what stands there without the rows that are gone; those in ascending order."""
    for other in gone:
        place += other <= place
    return place


def _wrong(given: Any, *, rows: int, n: int) -> str | None:
    """What is not as it should be."""
    if not isinstance(given, Sequence) or isinstance(given, str) or not all(map(_is_number, given)):
        return "must give a list of whole numbers, the places of rows in the pool it was given"
    if any(not 0 <= number < rows for number in given):
        return f"must give places from 0 to {rows - 1} in the pool it was given"
    if len(set(given)) < len(given):
        return "must give each row once"
    return f"must give at most {n} rows" if len(given) > n else None


def _is_number(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)
