"""Documents and pools of numbered rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hydra_eval.fewshot import Picks, pick_shots
from hydra_eval.records import Doc

from ..toys import docs_of, shot_plan, toy_task


def numbered(numbers: Iterable[int], *, split: str = "test") -> tuple[Doc, ...]:
    """One document per number; equal numbers make equal rows."""
    return docs_of([{"n": number} for number in numbers], split=split)


def picked(docs: tuple[Doc, ...], *, name: str = "toy", limit: int | None = None, **plan: Any) -> Picks:
    task = toy_task(name=name, all_docs=docs, docs=docs[:limit], shots=shot_plan(**plan))
    return pick_shots(task)


def rows_of(picks: Picks) -> list[list[int]]:
    return [[shot.row["n"] for shot in shots] for shots in picks.shots]
