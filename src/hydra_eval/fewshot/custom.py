"""A function of the user's own as a strategy: `(pool, doc, n, seed) -> places in that pool`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from numbers import Integral
from textwrap import shorten
from typing import Any

from hydra_eval.errors import UserError, counted, noted
from hydra_eval.fewshot.picks import Candidates, Draw, Free
from hydra_eval.records import Doc


def by_function(draw: Draw) -> Candidates:
    """Asks the function for each document. The rows it sees are copies, without those that leak.

    Raises UserError where it changes a row of the pool, which the next document would see.
    """
    plan = draw.plan
    assert plan.function is not None
    function = plan.function
    rows, untouched = ([deepcopy(dict(shot.row)) for shot in plan.pool] for _ in range(2))
    where = f"fewshot.strategy={plan.strategy}"
    _check_signature(function, where)
    suspects = draw.guard.suspects(plan.pool)

    def candidates(doc: Doc, free: Free) -> Iterable[Doc]:
        leaking = sorted({place for place in suspects(doc) if draw.leaks(plan.pool[place], doc)})
        pool = rows.copy()
        for place in reversed(leaking):
            del pool[place]
        with noted(f"in {where}"):
            given = _plain(function(pool, deepcopy(dict(doc.row)), plan.n, plan.seed))
        if rows != untouched:
            raise UserError(f"{where} changes the rows of its pool; it must copy what it changes (copy.deepcopy).")
        wrong = _wrong(given, rows=len(rows) - len(leaking), n=plan.n)
        if wrong:
            raise UserError(f"{where} {wrong}, but gave {shorten(repr(given), 200)}.")
        return [plan.pool[_in_whole_pool(int(number), leaking)] for number in given]

    return candidates


def _check_signature(function: Callable[..., Any], where: str) -> None:
    try:
        inspect.signature(function).bind([], {}, 0, 0)
    except TypeError as error:
        raise UserError(f"{where} must take (pool, doc, n, seed) by place: {error}.") from error
    except ValueError:  # a builtin that does not tell what it takes
        return


def _plain(given: Any) -> Any:
    """An array of numbers as a list."""
    return given.tolist() if hasattr(given, "tolist") else given


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
        return f"must give places, from 0 on, in the pool it was given, which has {counted(rows, 'row')}"
    if len(set(given)) < len(given):
        return "must give each row once"
    return f"must give at most {counted(n, 'row')}" if len(given) > n else None


def _is_number(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)
