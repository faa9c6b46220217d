"""Which examples stand before which document: drawn over all documents of a task, before anything is sharded."""

from __future__ import annotations

from hydra_eval.errors import UserError, lookup
from hydra_eval.fewshot.lighteval import class_by_answer, pick_as_lighteval
from hydra_eval.fewshot.lm_eval import pick_as_task_says
from hydra_eval.fewshot.native import pick_first_n, pick_random
from hydra_eval.fewshot.picks import Picks, Strategy, others
from hydra_eval.tasks.task import Task

STRATEGIES: dict[str, Strategy] = {
    "task": pick_as_task_says,
    "first_n": pick_first_n,
    "random": pick_random,
}


def pick_shots(task: Task) -> Picks:
    """The examples of every document of `task`, limit or not, so that no limit changes a prompt.

    Raises UserError for an unknown strategy, and where fewer other rows exist than examples are asked for.
    """
    plan = task.shots
    pick = lookup(STRATEGIES, plan.strategy, kind="few-shot strategy", where="fewshot.strategy")
    if plan.n == 0 or plan.drawn_by_task:
        return Picks(shots=tuple(() for _ in task.all_docs))
    if plan.compat == "lighteval" and plan.strategy == "task":
        return pick_as_lighteval(task.base_name, plan, task.all_docs, class_by_answer(task.shot_template))
    if len(plan.pool) < plan.n:
        raise UserError(
            f"{task.source}: {plan.n} examples are asked for, but the pool ('{plan.pool_split or 'samples'}') has "
            f"{len(plan.pool)} rows. Ask for fewer (fewshot.n), or name a larger split (fewshot.split)."
        )
    # The name in the task file: `name` says `|n` only where a run has several counts, and must change no draw.
    return pick(task.base_name, plan, task.all_docs)


__all__ = ["STRATEGIES", "Picks", "others", "pick_shots"]
