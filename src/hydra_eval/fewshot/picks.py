"""What a strategy returns, and the rule that no document is its own example."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from hydra_eval.errors import UserError
from hydra_eval.records import Doc
from hydra_eval.tasks.task import ShotPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class Picks:
    """One tuple of examples per document, in the documents' order."""

    shots: tuple[tuple[Doc, ...], ...]
    replaced: int = 0
    """Examples that were the document itself, by place or by content, and made way for others."""


Strategy: TypeAlias = Callable[[str, ShotPlan, Sequence[Doc]], Picks]
"""`(task name, plan, all documents) -> Picks`; pure."""


def leaks(shot: Doc, doc: Doc) -> bool:
    """The example is the document: the same place in the same split, or the same content."""
    return shot.origin == doc.origin or shot.row == doc.row


def others(pool: Sequence[Doc], doc: Doc, n: int) -> list[Doc]:
    """The rows of the pool that are not `doc`. Raises UserError where fewer than `n` are left."""
    left = [shot for shot in pool if not leaks(shot, doc)]
    if len(left) < n:
        raise UserError(
            f"task '{doc.task}', document {doc.index}: {n} examples are asked for, but only {len(left)} other rows are "
            "in the pool. Ask for fewer (fewshot.n), or name a larger split (fewshot.split)."
        )
    return left


def generator(seed: int, task: str, index: int | None = None) -> random.Random:
    """A generator that depends on seed, task and document alone, never on what was drawn before."""
    return random.Random(f"{seed}/{task}" if index is None else f"{seed}/{task}/{index}")
