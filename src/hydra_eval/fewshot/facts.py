"""What the results say about a task's examples."""

from __future__ import annotations

from typing import Any

from hydra_eval.fewshot.picks import Picks
from hydra_eval.tasks.task import Task


def shot_facts(task: Task, picks: Picks) -> dict[str, Any]:
    plan = task.shots
    return {
        "strategy": plan.strategy,
        "n": plan.n,
        "seed": plan.seed,
        "split": plan.pool_split,
        "pool": len(plan.pool),
        "replaced": picks.replaced,
    }
