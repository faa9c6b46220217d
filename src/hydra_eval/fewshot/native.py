"""Strategies of our own."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import chain, islice

from hydra_eval.errors import UserError, counted
from hydra_eval.fewshot import lighteval
from hydra_eval.fewshot.picks import Candidates, Draw, Free, generator, shuffled_lazily, spares
from hydra_eval.records import Doc


def first_n(draw: Draw) -> Candidates:
    """The pool in its own order."""
    return lambda doc, free: draw.plan.pool


def sequential(draw: Draw) -> Candidates:
    """The pool from row n × seed on, and then its beginning."""
    order = lighteval.sequential(draw)
    return lambda doc, free: order


def random_set(draw: Draw) -> Candidates:
    """One order of the pool for the whole task; seed 0 is a seed like any other."""
    order = lighteval.shuffled(draw.plan.pool, draw.plan.seed)
    return lambda doc, free: order


def random_per_doc(draw: Draw) -> Candidates:
    """An order of the pool for each document, that no other document has a part in."""
    return lambda doc, free: shuffled_lazily(draw.plan.pool, generator(draw, doc))


def sampled(draw: Draw, *, extra: int) -> Candidates:
    """lighteval's draws for each document; where one leaks, the next follows, and after the last other rows."""
    drawn = lighteval.sampled(draw, min(draw.plan.n + extra, len(draw.plan.pool)))

    def candidates(doc: Doc, free: Free) -> Iterator[Doc]:
        yield from drawn[doc.index]
        yield from spares(draw, doc, drawn[doc.index])

    return candidates


random_sampling = partial(sampled, extra=1)
random_sampling_from_train = partial(sampled, extra=0)


def fixed(draw: Draw) -> Candidates:
    """The rows of `fewshot.indices`, in that order; for one that leaks, the first row that is not listed."""
    pool, listed = draw.plan.pool, draw.plan.indices
    beyond = [index for index in listed if index >= len(pool)]
    if beyond:
        raise UserError(
            f"task '{draw.task}': fewshot.indices has {beyond[0]}, but the pool "
            f"('{draw.plan.pool_split or 'samples'}') has {counted(len(pool), 'row')}, from 0 on."
        )
    named = [pool[index] for index in listed]
    others = [shot for place, shot in enumerate(pool) if place not in listed]
    return lambda doc, free: islice(filter(free, chain(named, others)), len(named))
