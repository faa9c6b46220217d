"""lighteval's own picks (0.13), to the last draw.

Its guard against leaks never acts there, because what it compares has been changed before. So every strategy is drawn
as if it were not there, and an example that is the document itself is then replaced from a generator of its own, unless
the run allows leaks. A pool that is too small gives fewer examples, as in lighteval.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import partial
from itertools import islice, takewhile

from hydra_eval.errors import UserError, counted
from hydra_eval.fewshot.classes import class_of, drawn_in_turn
from hydra_eval.fewshot.picks import Candidates, Draw, Strategy, mended
from hydra_eval.records import Doc

LIGHTEVAL = "lighteval"
"""`ShotPlan.compat`."""
ORDER_SEED = 42
"""Seeds the generator that orders the documents, and goes on to draw the examples of those that are sampled."""
SAMPLED = {"random_sampling": 1, "random_sampling_from_train": 0}
"""Strategies that draw for each document, and how many more than they show."""


def sequential(draw: Draw) -> list[Doc]:
    plan = draw.plan
    return rotated(plan.pool, plan.n * plan.seed)


def in_random_order(draw: Draw) -> list[Doc]:
    return list(draw.plan.pool) if draw.plan.seed == 0 else shuffled(draw.plan.pool, draw.plan.seed)


def balanced(draw: Draw) -> list[Doc]:
    """An empty class ends the draw."""
    drawn = drawn_in_turn(draw.plan.pool, draw.plan.seed, class_of(draw))
    return [shot for _, shot in islice(takewhile(lambda one: one[0] != "", drawn), draw.plan.n)]


LISTED = {"balanced": balanced, "random": in_random_order, "sequential": sequential}
"""Strategies that show the same examples before every document."""


def rotated(pool: Sequence[Doc], places: int) -> list[Doc]:
    """The pool from `places` on, and then its beginning."""
    start = places % len(pool) if pool else 0
    return [*pool[start:], *pool[:start]]


def shuffled(pool: Sequence[Doc], seed: int) -> list[Doc]:
    order = list(pool)
    random.Random(seed).shuffle(order)
    return order


def sampled(draw: Draw, count: int) -> list[list[Doc]]:
    """`count` rows for each document, by its index, from the generator that has just put the documents in order.

    They are drawn in that order, which the documents of a task in YAML do not stand in.
    """
    own = random.Random(ORDER_SEED)
    places = list(range(len(draw.docs)))
    own.shuffle(places)
    if draw.plan.docs_are_shuffled:
        places.sort()
    order = in_random_order(draw)
    drawn: dict[int, list[Doc]] = {place: own.sample(order, count) for place in places}
    return [drawn[place] for place in range(len(places))]


def _listed(name: str, draw: Draw) -> Candidates:
    shown = LISTED[name](draw)[: draw.plan.n]
    return mended(draw, [shown] * len(draw.docs), fills=False)


def _sampled(name: str, draw: Draw) -> Candidates:
    n, count, rows = draw.plan.n, draw.plan.n + SAMPLED[name], len(draw.plan.pool)
    if rows < count and draw.plan.shortfall != "allow":
        raise UserError(
            f"task '{draw.task}': {counted(count, 'example is', 'examples are')} drawn for each document, but the pool "
            f"has {counted(rows, 'row')}. Ask for fewer (fewshot.n), name a larger split (fewshot.split), or take what "
            "there is (fewshot.shortfall=allow)."
        )
    return mended(draw, [shots[:n] for shots in sampled(draw, min(count, rows))], fills=False)


REPLAYED: dict[str, Strategy] = {
    **{name: partial(_listed, name) for name in LISTED},
    **{name: partial(_sampled, name) for name in SAMPLED},
}
"""lighteval's strategies by their names there."""
NAMES = {**{name: name for name in REPLAYED}, "default": "balanced", "first_n": "sequential"}
"""`few_shots_select`, and lm-eval's samplers → strategy."""
