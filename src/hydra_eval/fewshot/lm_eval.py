"""lm-eval's own picks (0.4.13, `lm_eval.api.samplers`), minus its leaks.

One `random.Random(seed)` per task is consumed document by document, so a document's examples depend on all draws
before it. Here that happens over all documents before sharding: the number of processes cannot change a prompt. Where
an example would be the document itself, only that prompt differs from lm-eval's: the example is replaced from a
generator of its own, and the shared one goes on as if nothing had happened.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import islice

from hydra_eval.errors import lookup
from hydra_eval.fewshot.picks import Picks, Strategy, generator, leaks, others
from hydra_eval.records import Doc
from hydra_eval.tasks.task import ShotPlan


def pick_as_task_says(task: str, plan: ShotPlan, docs: Sequence[Doc]) -> Picks:
    """Follow the sampler that the task's `fewshot_config` names."""
    return lookup(SAMPLERS, plan.sampler, kind="sampler", where=f"task '{task}': fewshot_config")(task, plan, docs)


def pick_default(task: str, plan: ShotPlan, docs: Sequence[Doc]) -> Picks:
    """lm-eval's `default` sampler: n rows at random for each document."""
    shared = random.Random(plan.seed)
    shots, replaced = [], 0
    for doc in docs:
        drawn = _drawn(shared, plan, doc)
        clean = [shot for shot in drawn if plan.on_leak == "allow" or not leaks(shot, doc)]
        if len(clean) < plan.n:
            replaced += len(drawn) - len(clean)
            clean = _completed(drawn, plan, doc, generator(plan.seed, task, doc.index))
        shots.append(tuple(clean))
    return Picks(shots=tuple(shots), replaced=replaced)


def _drawn(shared: random.Random, plan: ShotPlan, doc: Doc) -> list[Doc]:
    """The rows that lm-eval draws for one document, consuming `shared` exactly as it does."""
    if not plan.excludes_doc:
        return shared.sample(plan.pool, plan.n)
    if len(plan.pool) <= plan.n:
        return []
    kept = [shot for shot in shared.sample(plan.pool, plan.n + 1) if shot.row != doc.row][: plan.n]
    if len(kept) < plan.n:
        rest = [shot for shot in plan.pool if shot.row != doc.row]
        kept = shared.sample(rest, plan.n) if len(rest) >= plan.n else []
    return kept


def _completed(drawn: Sequence[Doc], plan: ShotPlan, doc: Doc, own: random.Random) -> list[Doc]:
    """`drawn` with each leaking example replaced in its place by another row of the pool."""
    fresh = others(plan.pool, doc, plan.n)
    taken = {shot.index for shot in drawn}
    spare = [shot for shot in fresh if shot.index not in taken]
    kept = [shot for shot in drawn if not leaks(shot, doc)]
    substitutes = iter(own.sample(spare, plan.n - len(kept)))
    if not drawn:
        return list(substitutes)
    return [next(substitutes) if leaks(shot, doc) else shot for shot in drawn]


def pick_first(task: str, plan: ShotPlan, docs: Sequence[Doc]) -> Picks:
    """lm-eval's `first_n` sampler: the first n rows of the pool, without the document where lm-eval takes it out."""
    shots, replaced = [], 0
    for doc in docs:
        rows = (shot for shot in plan.pool if not (plan.excludes_doc and shot.row == doc.row))
        first = list(islice(rows, plan.n))
        leaking = 0 if plan.on_leak == "allow" else sum(leaks(shot, doc) for shot in first)
        if leaking or len(first) < plan.n:
            first = others(plan.pool, doc, plan.n)[: plan.n]
        replaced += leaking
        shots.append(tuple(first))
    return Picks(shots=tuple(shots), replaced=replaced)


SAMPLERS: dict[str, Strategy] = {"default": pick_default, "first_n": pick_first}
