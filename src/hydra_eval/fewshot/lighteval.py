"""lighteval's own picks (0.13), to the last draw.

Its guard against leaks never acts there, because what it compares has been changed before. So every strategy is drawn
as if it were not there, and an example that is the document itself is then replaced from a generator of its own, unless
the run allows leaks. A pool that is too small gives fewer examples, as in lighteval.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from typing import Any, TypeAlias

from hydra_eval.errors import UserError, lookup
from hydra_eval.fewshot.picks import Picks, generator, leaks
from hydra_eval.records import Doc
from hydra_eval.tasks.task import ShotPlan, Template

ClassOf: TypeAlias = Callable[[Doc], str]
"""An example's class; classes are taken in turn by `balanced`."""

ORDER_SEED = 42
"""Seeds the generator that orders the documents, and goes on to draw the examples of those that are sampled."""


def pick_as_lighteval(task: str, plan: ShotPlan, docs: Sequence[Doc], class_of: ClassOf) -> Picks:
    """The examples of every document; `plan.sampler` names the strategy, `docs` stand in lighteval's order."""
    strategy = lookup(NAMES, plan.sampler, kind="few_shots_select", where=f"task '{task}'")
    drawn = draw(strategy, plan, docs, class_of)
    if plan.on_leak == "allow":
        return Picks(shots=drawn)
    shots, replaced = [], 0
    for doc, own in zip(docs, drawn, strict=True):
        leaking = [shot for shot in own if leaks(shot, doc)]
        replaced += len(leaking)
        shots.append(_mended(task, plan, doc, own) if leaking else own)
    return Picks(shots=tuple(shots), replaced=replaced)


def draw(strategy: str, plan: ShotPlan, docs: Sequence[Doc], class_of: ClassOf) -> tuple[tuple[Doc, ...], ...]:
    """What lighteval shows before each document, leaks included."""
    pool = plan.pool
    if strategy in SAMPLED:
        return sampled(shuffled(pool, plan.seed), plan.n, plan.n + SAMPLED[strategy], len(docs))
    listed = {
        "balanced": lambda: balanced(pool, plan.n + 1, plan.seed, class_of),
        "random": lambda: shuffled(pool, plan.seed),
        "sequential": lambda: rotated(pool, plan.n * plan.seed),
    }[strategy]()
    return tuple(tuple(listed[: plan.n]) for _ in docs)


def rotated(pool: Sequence[Doc], places: int) -> list[Doc]:
    """The pool from `places` on, and then its beginning."""
    start = places % len(pool) if pool else 0
    return [*pool[start:], *pool[:start]]


def shuffled(pool: Sequence[Doc], seed: int) -> list[Doc]:
    """One order of the pool; seed 0 is the file's."""
    order = list(pool)
    if seed:
        random.Random(seed).shuffle(order)
    return order


def balanced(pool: Sequence[Doc], count: int, seed: int, class_of: ClassOf) -> list[Doc]:
    """`count` examples, a class at a time, the largest first. An empty class ends the draw, as in lighteval."""
    own = random.Random(seed)
    by_class: dict[str, list[Doc]] = defaultdict(list)
    for shot in pool:
        by_class[class_of(shot)].append(shot)
    picked: list[Doc] = []
    wanted = min(len(pool), count)
    for name in cycle(_class_order(by_class, own)):
        if len(picked) == wanted or not name:
            break
        if by_class[name]:
            picked.append(by_class[name].pop(own.randrange(len(by_class[name]))))
    return picked


def _class_order(by_class: Mapping[str, Sequence[Doc]], own: random.Random) -> list[str]:
    """Larger classes first; classes of one size in an order of the generator's."""
    by_size: dict[int, list[str]] = defaultdict(list)
    for name in sorted(by_class):
        by_size[len(by_class[name])].append(name)
    order: list[str] = []
    for size in sorted(by_size, reverse=True):
        own.shuffle(by_size[size])
        order += by_size[size]
    return order


def sampled(order: Sequence[Doc], n: int, drawn: int, documents: int) -> tuple[tuple[Doc, ...], ...]:
    """A sample for each document, from the generator that has just put all of them in order; its first n count."""
    if len(order) < drawn:
        raise UserError(
            f"{drawn} examples are drawn for each document, but the pool has {len(order)} rows. Ask for fewer "
            "(fewshot.n), or name a larger split (fewshot.split)."
        )
    own = random.Random(ORDER_SEED)
    own.shuffle(list(range(documents)))
    return tuple(tuple(own.sample(order, drawn)[:n]) for _ in range(documents))


def class_by_answer(template: Template) -> ClassOf:
    """lighteval's class of an example: its `fewshot_sorting_class`, else its first right answer."""

    def class_of(shot: Doc) -> str:
        named = shot.row.get("fewshot_sorting_class")
        return str(named) if named else _first_answer(template, shot)

    return class_of


def _first_answer(template: Template, shot: Doc) -> str:
    target: Any = template.target(shot.row)
    first = (target or [""])[0] if isinstance(target, list | tuple) else target
    if isinstance(first, int) and template.choices is not None:
        return template.choices(shot.row)[first]
    return str(first)


def _mended(task: str, plan: ShotPlan, doc: Doc, drawn: Sequence[Doc]) -> tuple[Doc, ...]:
    """Each leaking example made way for another row; where no other is left, it is missing."""
    taken = {shot.origin for shot in drawn}
    spare = [shot for shot in plan.pool if shot.origin not in taken and not leaks(shot, doc)]
    gaps = sum(leaks(shot, doc) for shot in drawn)
    others = generator(plan.seed, task, doc.index).sample(spare, min(gaps, len(spare)))
    substitutes = iter(others)
    mended = (next(substitutes, None) if leaks(shot, doc) else shot for shot in drawn)
    return tuple(shot for shot in mended if shot is not None)


SAMPLED = {"random_sampling": 1, "random_sampling_from_train": 0}
"""Strategies that draw for each document, and how many more than they show."""
NAMES = {
    **{name: name for name in ("balanced", "random", "sequential", *SAMPLED)},
    "default": "balanced",
    "first_n": "sequential",
}
"""`few_shots_select`, and lm-eval's samplers → strategy."""
