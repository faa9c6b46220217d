"""Which choice a document's log-likelihoods pick, in each way that its task reads them, and how narrowly."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from hydra_eval.instances import choices_of
from hydra_eval.records import Doc
from hydra_eval.tasks.task import Task

LIKELIEST = "likeliest"
"""For a task with none of the metrics below."""


def _one(choice: str) -> int:
    return 1


def _bytes(choice: str) -> int:
    return len(choice.encode())


UNITS: Mapping[str, Callable[[str], int]] = {
    "acc": _one,
    "acc_norm": len,
    "acc_bytes": _bytes,
    "acc_mutual_info": _one,
    LIKELIEST: _one,
}
"""Metric → what a choice's sum is divided by before sums are compared."""


class Reading(NamedTuple):
    """What one metric compares."""

    scores: tuple[float, ...]
    units: tuple[int, ...]
    """Of each choice: nats that move its score by one."""

    @property
    def pick(self) -> int:
        """Of equal choices the first, as everywhere."""
        return max(range(len(self.scores)), key=self.scores.__getitem__)

    @property
    def gap(self) -> float:
        """By how many nats the sum of one choice has to change before another is picked."""
        best = self.pick
        others = (other for other, unit in enumerate(self.units) if other != best and unit)
        return min((self._distance(best, other) for other in others), default=math.inf)

    def _distance(self, one: int, other: int) -> float:
        if self.scores[one] == self.scores[other]:
            return 0.0
        return (self.scores[one] - self.scores[other]) * min(self.units[one], self.units[other])


def readings(task: Task, doc: Doc, sums: Sequence[float]) -> dict[str, Reading]:
    """Metric → what it compares. `sums` of all log-likelihood requests of the document; nothing where it has no choice.

    A task that words its requests itself is taken to ask for its choices, and for nothing else.
    """
    if task.output_type != "multiple_choice" or task.own_requests is not None:
        named, choices = [LIKELIEST], [""] * len(sums)
    else:
        named = [metric.name for metric in task.metrics if metric.name in UNITS] or [LIKELIEST]
        choices = list(choices_of(task, doc))
    return {name: _reading(name, choices, sums) for name in named} if len(choices) > 1 else {}


def _reading(name: str, choices: Sequence[str], sums: Sequence[float]) -> Reading:
    units = tuple(map(UNITS[name], choices))
    own, bare = sums[: len(choices)], sums[len(choices) :]
    gained = [one - other for one, other in zip(own, bare, strict=True)] if name == "acc_mutual_info" else own
    # A choice without length never wins, as in the metric.
    return Reading(tuple(s / unit if unit else -math.inf for s, unit in zip(gained, units, strict=True)), units)
