"""One document's answers, from the run and from its requests asked alone, side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import NamedTuple, TypeAlias

from hydra_eval.numerics.answers import readings
from hydra_eval.records import Doc, DocKey, RequestKind, Response
from hydra_eval.tasks.task import Task

Tokenize: TypeAlias = Callable[[str], Sequence[int]]


class Twice(NamedTuple):
    """One request's two answers."""

    run: Response
    alone: Response


class Pick(NamedTuple):
    """A choice between several."""

    changed: bool
    gap: float
    """Nats that were missing for another choice, the smaller of both times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What the second time changed, for the requests of one kind of one document."""

    key: DocKey
    kind: str
    """Value of a `RequestKind`."""
    requests: int
    drifts: tuple[float, ...] = ()
    """Of each log-likelihood: how far the sums are apart, in nats."""
    greedy_changed: int = 0
    """Continuations that were the model's first choice once and not the other time."""
    picks: Mapping[str, Pick] = field(default_factory=dict)
    """By the metric that picks."""
    differs_at: tuple[int, ...] = ()
    """Of each reply that is another: the token from which on."""

    @property
    def changed(self) -> bool:
        """An answer or a reply is another."""
        return bool(self.differs_at) or any(pick.changed for pick in self.picks.values())

    def near_tie(self, nats: float) -> bool:
        return any(pick.gap < nats for pick in self.picks.values())


def compare(task: Task, doc: Doc, kind: RequestKind, twice: Sequence[Twice], tokenize: Tokenize) -> Checked:
    """`twice` holds every request of that kind once, in request order."""
    key = DocKey(task.name, doc.index)
    if kind is RequestKind.GENERATE:
        places = [_difference(*pair, tokenize) for pair in twice]
        differs_at = tuple(place for place in places if place is not None)
        return Checked(key=key, kind=kind.value, requests=len(twice), differs_at=differs_at)
    return Checked(
        key=key,
        kind=kind.value,
        requests=len(twice),
        drifts=tuple(_drift(_sum(run), _sum(alone)) for run, alone in twice),
        greedy_changed=sum(run.is_greedy != alone.is_greedy for run, alone in twice),
        picks=_picks(task, doc, twice) if kind is RequestKind.LOGLIKELIHOOD else {},
    )


def _picks(task: Task, doc: Doc, twice: Sequence[Twice]) -> dict[str, Pick]:
    run = readings(task, doc, [_sum(pair.run) for pair in twice])
    alone = readings(task, doc, [_sum(pair.alone) for pair in twice])
    return {
        name: Pick(changed=run[name].pick != alone[name].pick, gap=min(run[name].gap, alone[name].gap)) for name in run
    }


def _sum(response: Response) -> float:
    assert response.logprob is not None
    return response.logprob


def _drift(one: float, other: float) -> float:
    """Infinite where either is no number."""
    if one == other:
        return 0.0
    return math.inf if math.isnan(one - other) else abs(one - other)


def _difference(run: Response, alone: Response, tokenize: Tokenize) -> int | None:
    """The first token, from 1, in which the texts differ, reasoning included; None: they are the same."""
    one, other = (f"{response.reasoning or ''}{response.text}" for response in (run, alone))
    if one == other:
        return None
    pairs = zip(tokenize(one), tokenize(other), strict=False)
    return 1 + sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
