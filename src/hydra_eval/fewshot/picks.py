"""What a strategy sees and gives, and what is made of it: n examples for each document, none of them itself.

A strategy gives for each document the rows of the pool in its order of preference; the first n that do not leak are
shown. So the rule against leaks and the number of examples are the same for all strategies, and stand here.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from typing import TypeAlias

from hydra_eval.errors import UserError, at_document, counted
from hydra_eval.fewshot.leaks import Guard
from hydra_eval.records import Doc
from hydra_eval.tasks.task import ShotPlan, Task

Free: TypeAlias = Callable[[Doc], bool]
"""Whether a row of the pool may stand before the document at hand."""
Candidates: TypeAlias = Callable[[Doc, Free], Iterable[Doc]]
"""Document → rows of the pool, those to be shown first; made lazily, each row once. Rows that are not free are passed
over afterwards, so that only a strategy for which they matter looks at `Free`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """All that a strategy may look at."""

    task: str
    """The name in the task's file: a cell's own says `|n`, and must change no draw."""
    plan: ShotPlan
    docs: Sequence[Doc]
    """Every document of the task, limit or not, so that no limit changes a prompt."""
    asked: Sequence[Doc]
    """Those that get examples."""
    guard: Guard
    allows_fewer: bool

    def leaks(self, shot: Doc, doc: Doc) -> bool:
        """The example must not stand before the document, which it is."""
        return self.plan.on_leak != "allow" and self.guard.leaks(shot, doc)


Strategy: TypeAlias = Callable[[Draw], Candidates]
"""Pure: what a document gets depends on no other that is asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picks:
    """The examples of every document that is evaluated."""

    shots: tuple[tuple[Doc, ...], ...]
    """By the document's index; empty for those that are not evaluated."""
    replaced: int = 0
    """Examples that were the document itself, by place or by content, and made way for others."""
    short: int = 0
    """Documents with fewer examples than asked for."""
    digest: str = ""
    """A hash of all picks: the documents' origins and those of their examples, in order."""


def picks_of(draw: Draw, candidates: Candidates) -> Picks:
    """The first n candidates of every document that do not leak.

    Raises UserError where fewer are left, unless fewer are allowed.
    """
    shots: dict[int, tuple[Doc, ...]] = {}
    replaced = 0
    for doc in draw.asked:
        with at_document(doc.task, doc.index):
            found, leaking = _shown(draw, candidates, doc)
        if len(found) < draw.plan.n and not draw.allows_fewer:
            raise UserError(_too_few(draw, doc, len(found)))
        shots[doc.index] = _ordered(draw, doc, found)
        replaced += leaking
    return Picks(
        shots=tuple(shots.get(doc.index, ()) for doc in draw.docs),
        replaced=replaced,
        short=sum(len(shown) < draw.plan.n for shown in shots.values()),
        digest=_digest(draw.asked, shots),
    )


def _shown(draw: Draw, candidates: Candidates, doc: Doc) -> tuple[tuple[Doc, ...], int]:
    """One document's examples, and how many rows were passed over because they leak."""
    is_free: dict[int, bool] = {}

    def free(shot: Doc) -> bool:
        # Strategies look at it, and what they give is looked at again.
        if shot.index not in is_free:
            is_free[shot.index] = not draw.leaks(shot, doc)
        return is_free[shot.index]

    found = tuple(islice(filter(free, candidates(doc, free)), draw.plan.n))
    return found, len(is_free) - sum(is_free.values())


def _ordered(draw: Draw, doc: Doc, shots: tuple[Doc, ...]) -> tuple[Doc, ...]:
    """The examples as they stand in the prompt."""
    return tuple(shots[place] for place in _places(draw.plan, draw.task, doc, len(shots)))


def _places(plan: ShotPlan, task: str, doc: Doc, count: int) -> Sequence[int]:
    """Which of the examples, in the order of drawing, stands at each place of the prompt."""
    if plan.order == "shuffled":
        return _seeded(plan.seed, task, doc, "order").sample(range(count), count)
    return range(count)[::-1] if plan.order == "reversed" else range(count)


def fewer(task: Task, doc: Doc, shots: Sequence[Doc], count: int) -> tuple[Doc, ...]:
    """Of a document's examples those that were drawn first, as they would stand in a prompt with so few."""
    plan, name = task.shots, task.base_name
    drawn = dict(zip(_places(plan, name, doc, len(shots)), shots, strict=True))
    return tuple(drawn[place] for place in _places(plan, name, doc, count))


LEFT = {
    "one_per_class": ("class of other rows", "classes of other rows"),
    "fixed": ("row that fewshot.indices names", "rows that fewshot.indices names"),
}
"""What a strategy runs out of, one and several, where that is not the pool's rows."""
PICKED = ("row that the function picks", "rows that the function picks")


def _too_few(draw: Draw, doc: Doc, left: int) -> str:
    plan = draw.plan
    what = PICKED if plan.function is not None else LEFT.get(plan.strategy, ("other row", "other rows"))
    asked = counted(plan.n, "example is asked for", "examples are asked for")
    found = f"{counted(left, *what)} {'is' if left == 1 else 'are'}"
    return (
        f"task '{doc.task}', document {doc.index}: {asked}, but only {found} in the pool "
        f"('{plan.pool_split or 'samples'}', {counted(len(plan.pool), 'row')}). Ask for fewer (fewshot.n), name a "
        "larger split (fewshot.split), or take what there is (fewshot.shortfall=allow)."
    )


def _digest(docs: Sequence[Doc], shots: dict[int, tuple[Doc, ...]]) -> str:
    found = sha256()
    for doc in docs:
        found.update(json.dumps([doc.origin, [shot.origin for shot in shots[doc.index]]]).encode() + b"\n")
    return found.hexdigest()


# --- what several strategies use ---


def generator(draw: Draw, doc: Doc, *, purpose: str = "") -> random.Random:
    """A generator that depends on seed, task and document alone, never on what was drawn before."""
    return _seeded(draw.plan.seed, draw.task, doc, purpose)


def _seeded(seed: int, task: str, doc: Doc, purpose: str) -> random.Random:
    split, position = doc.origin
    return random.Random(f"{seed}/{task}/{split}/{position}/{purpose}")


def shuffled_lazily(pool: Sequence[Doc], own: random.Random) -> Iterator[Doc]:
    """The pool in an order of the generator's, row by row: a few of 100,000 rows cost no more than a few of 100."""
    moved: dict[int, int] = {}
    for last in reversed(range(len(pool))):
        place = own.randrange(last + 1)
        yield pool[moved.get(place, place)]
        moved[place] = moved.get(last, last)


def spares(draw: Draw, doc: Doc, taken: Iterable[Doc]) -> Iterator[Doc]:
    """The other rows of the pool, in an order of the document's own."""
    numbers = {shot.index for shot in taken}
    order = shuffled_lazily(draw.plan.pool, generator(draw, doc))
    return (shot for shot in order if shot.index not in numbers)


def mended(draw: Draw, drawn: Sequence[Sequence[Doc]], *, fills: bool) -> Candidates:
    """Another program's picks, by the document's index: only an example that leaks makes way, in its place.

    `fills`: where that program draws too few, others follow.
    """

    def candidates(doc: Doc, free: Free) -> Iterator[Doc]:
        own = drawn[doc.index]
        others = filter(free, spares(draw, doc, own))
        for shot in own:
            yield from [shot] if free(shot) else islice(others, 1)
        if fills:
            yield from others

    return candidates
