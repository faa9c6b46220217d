"""What a run asks of a task, and how rows that differ in it are called."""

from __future__ import annotations

from typing import NamedTuple

SEED, ORDER = "seed=", "order="


class Ask(NamedTuple):
    """What a SPEC asks of all its tasks in one cell each; a task that takes no shots has one cell for several."""

    spec: str
    """The value of `task=`."""
    shots: int | None = None
    """As the SPEC or the run says; None: each task's own number."""
    seed: int | None = None
    """One of `fewshot.seeds`."""
    order: int = 0
    """Which order of the choices."""


def told_apart(base: str, *, shots: int | None, seed: int | None, order: int | None) -> str:
    """`base|n|seed=s|order=k`, without the parts that are None."""
    parts = [base]
    parts += [] if shots is None else [str(shots)]
    parts += [] if seed is None else [f"{SEED}{seed}"]
    parts += [] if order is None else [f"{ORDER}{order}"]
    return "|".join(parts)


def without(part: str, name: str) -> str:
    """The name that rows share which differ in `part` (SEED or ORDER) alone; the name itself where it lacks that."""
    base, *parts = name.split("|")
    return "|".join([base, *(kept for kept in parts if not kept.startswith(part))])
