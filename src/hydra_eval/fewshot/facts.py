"""What the results say about a task's examples."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from hydra_eval.fewshot.picks import Picks
from hydra_eval.records import Doc
from hydra_eval.tasks.task import Task


def shot_facts(task: Task, picks: Picks, shown: Sequence[Sequence[Doc]]) -> dict[str, Any]:
    """`shown`: what stands in the prompts of the documents that are scored, which a short window may cut down.

    No counts where the task's own code draws the examples.
    """
    plan = task.shots
    counts = [len(shots) for shots in shown]
    evaluated = {doc.split for doc in task.all_docs}
    return {
        "strategy": plan.strategy,
        "sampler": plan.sampler if plan.strategy == "task" else None,
        "compat": plan.compat,
        "n": plan.n,
        "seed": plan.seed,
        "order": plan.order,
        "split": plan.pool_split,
        "pool": len(plan.pool),
        "from_eval": plan.from_eval,
        "replaced": picks.replaced,
        "shown": None if plan.drawn_by_task else _spread(counts),
        "short": picks.short,
        "shown_from_eval": sum(shot.split in evaluated for shots in shown for shot in shots),
        "picks_hash": picks.digest or None,
    }


def _spread(counts: list[int]) -> dict[str, float]:
    return {"min": min(counts), "mean": fmean(counts), "max": max(counts)}
