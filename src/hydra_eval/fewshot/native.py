"""Strategies of our own: never the document itself, always exactly n."""

from __future__ import annotations

from collections.abc import Sequence

from hydra_eval.fewshot.picks import Picks, generator, leaks, others
from hydra_eval.records import Doc
from hydra_eval.tasks.task import ShotPlan


def pick_first_n(task: str, plan: ShotPlan, docs: Sequence[Doc]) -> Picks:
    """The first n rows of the pool, in order."""
    return _same_order_for_all(plan.pool, plan, docs)


def pick_random(task: str, plan: ShotPlan, docs: Sequence[Doc]) -> Picks:
    """One order of the pool per task and seed; each document takes its first n rows."""
    return _same_order_for_all(generator(plan.seed, task).sample(plan.pool, len(plan.pool)), plan, docs)


def _same_order_for_all(pool: Sequence[Doc], plan: ShotPlan, docs: Sequence[Doc]) -> Picks:
    first = tuple(pool[: plan.n])
    shots, replaced = [], 0
    for doc in docs:
        leaking = sum(leaks(shot, doc) for shot in first)
        replaced += leaking
        shots.append(tuple(others(pool, doc, plan.n)[: plan.n]) if leaking else first)
    return Picks(shots=tuple(shots), replaced=replaced)
