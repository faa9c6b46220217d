"""Strategies that look at an example's class."""

from __future__ import annotations

import random
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TypeAlias

from hydra_eval.errors import UserError, did_you_mean
from hydra_eval.fewshot.leaks import answers
from hydra_eval.fewshot.picks import Candidates, Draw, Free
from hydra_eval.records import Doc
from hydra_eval.tasks.task import Template

ClassOf: TypeAlias = Callable[[Doc], str]


def balanced(draw: Draw) -> Candidates:
    """A class at a time, the largest first; where an example leaks, the next of its class stands in."""
    stocks = _stocks(draw)
    return lambda doc, free: _in_turn(stocks, free)


def one_per_class(draw: Draw) -> Candidates:
    """One example of each class, the largest first."""
    stocks = _stocks(draw)
    return lambda doc, free: (shot for stock in stocks for shot in islice(filter(free, stock), 1))


def drawn_in_turn(pool: Sequence[Doc], seed: int, class_of: ClassOf) -> Iterator[tuple[str, Doc]]:
    """All of the pool as (class, example): a class at a time, the largest first, each time a random one of it."""
    own = random.Random(seed)
    by_class: dict[str, list[Doc]] = defaultdict(list)
    for shot in pool:
        by_class[class_of(shot)].append(shot)
    waiting = deque(_class_order(by_class, own))
    while waiting:
        name = waiting.popleft()
        left = by_class[name]
        yield name, left.pop(own.randrange(len(left)))
        if left:
            waiting.append(name)


def class_of(draw: Draw) -> ClassOf:
    """`fewshot.class_field`, else lighteval's class of an example, else its first right answer."""
    column = draw.plan.class_field
    if column is None:
        return lambda shot: _own_class(draw.guard.shot_template, shot)
    for shot in draw.plan.pool:
        if column not in shot.row:
            near = did_you_mean(column, shot.row)
            raise UserError(
                f"task '{draw.task}': fewshot.class_field={column}: example {shot.index} has no such column.{near} "
                f"Columns: {', '.join(sorted(shot.row))}."
            )
    return lambda shot: str(shot.row[column])


def _own_class(template: Template, shot: Doc) -> str:
    named = shot.row.get("fewshot_sorting_class")
    return str(named) if named else next(iter(answers(template, shot.row)), "")


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


def _stocks(draw: Draw) -> list[list[Doc]]:
    """The examples of each class in the order they are drawn in, classes likewise."""
    stocks: dict[str, list[Doc]] = defaultdict(list)
    for name, shot in drawn_in_turn(draw.plan.pool, draw.plan.seed, class_of(draw)):
        stocks[name].append(shot)
    return list(stocks.values())


def _in_turn(stocks: Iterable[Sequence[Doc]], free: Free) -> Iterator[Doc]:
    """One of each class, then another of each, while there are any. Looks at no more classes than it must."""
    queues: Iterable[Iterator[Doc]] = (filter(free, stock) for stock in stocks)
    while queues:
        left = []
        for queue in queues:
            for shot in islice(queue, 1):
                left.append(queue)
                yield shot
        queues = left
