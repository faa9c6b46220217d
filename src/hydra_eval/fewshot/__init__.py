"""Which examples stand before which document: drawn over all documents of a task, before anything is sharded."""

from __future__ import annotations

from hydra_eval.errors import lookup
from hydra_eval.fewshot import classes, lm_eval, native
from hydra_eval.fewshot.custom import by_function
from hydra_eval.fewshot.leaks import Guard
from hydra_eval.fewshot.lighteval import LIGHTEVAL, NAMES, REPLAYED
from hydra_eval.fewshot.nearest import nearest
from hydra_eval.fewshot.picks import Candidates, Draw, Picks, Strategy, fewer, picks_of
from hydra_eval.tasks.task import ShotPlan, Task


def as_task_says(draw: Draw) -> Candidates:
    """The sampler that the task names, as lm-eval or lighteval has it."""
    sampler, where = draw.plan.sampler, f"task '{draw.task}'"
    if draw.plan.compat == LIGHTEVAL:
        return REPLAYED[lookup(NAMES, sampler, kind="few_shots_select", where=where)](draw)
    return lookup(lm_eval.SAMPLERS, sampler, kind="sampler", where=f"{where}: fewshot_config")(draw)


STRATEGIES: dict[str, Strategy] = {
    "task": as_task_says,
    "lm_eval": lm_eval.default,
    "first_n": native.first_n,
    "sequential": native.sequential,
    "random": native.random_set,
    "random_per_doc": native.random_per_doc,
    "balanced": classes.balanced,
    "random_sampling": native.random_sampling,
    "random_sampling_from_train": native.random_sampling_from_train,
    "fixed": native.fixed,
    "samples": native.first_n,  # the pool is what was written out
    "nearest": nearest,
    "one_per_class": classes.one_per_class,
}
"""`fewshot.strategy`; a function `package.module:name` beside them."""


def pick_shots(task: Task) -> Picks:
    """The examples of every document of `task` that is evaluated.

    Raises UserError for an unknown strategy, and where fewer other rows exist than examples are asked for.
    """
    plan = task.shots
    strategy = _strategy(plan)
    if plan.n == 0 or plan.drawn_by_task:
        return Picks(shots=tuple(() for _ in task.all_docs))
    draw = Draw(
        task=task.base_name,
        plan=plan,
        docs=task.all_docs,
        asked=task.docs,
        guard=Guard(
            template=task.template.own or task.template, shot_template=task.shot_template.own or task.shot_template
        ),
        allows_fewer=plan.shortfall == "allow" or _is_replayed(plan),
    )
    return picks_of(draw, strategy(draw))


def _strategy(plan: ShotPlan) -> Strategy:
    if plan.function is not None:
        return by_function
    own = lookup(STRATEGIES, plan.strategy, kind="few-shot strategy", where="fewshot.strategy")
    return REPLAYED.get(plan.strategy, own) if plan.compat == LIGHTEVAL else own


def _is_replayed(plan: ShotPlan) -> bool:
    """Drawn by lighteval's rules, which show fewer examples where the pool is too small."""
    return plan.compat == LIGHTEVAL and (plan.strategy == "task" or plan.strategy in REPLAYED)


__all__ = ["STRATEGIES", "Picks", "fewer", "pick_shots"]
