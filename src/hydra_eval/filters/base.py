"""What a filter is: replies of one document in, replies or outputs out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Filter: TypeAlias = Callable[[Sequence[Any], Sequence[Mapping[str, Any]]], list[Any]]
"""`(resps, docs) -> outputs`, one entry per request. `resps[i]` is the list of replies (one per repeat) to request i,
or whatever the step before made of it; `docs[i]` is the row that request i belongs to."""

CHOICE = "take_first"
"""The filter with which a pipeline that ends in it chooses one of the replies it has filtered."""
LEAVES_LIST = {"take_first": False, "take_last": False, "take_first_k": True, "majority_vote": True, "all": True}
"""Filter that chooses → whether it leaves a list, be it of one, or a value."""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Named steps that every request's replies pass in order."""

    name: str
    steps: tuple[Filter, ...]
    step_names: tuple[str, ...] = ()
    """As the task or the command line calls them."""
    is_ours: bool = False
    """Every step is a filter of ours, so that a made-up reply may be sent through."""

    def __call__(self, resps: Sequence[Any], docs: Sequence[Mapping[str, Any]]) -> list[Any]:
        return self.choose(self.keep(resps, docs), docs)

    def keep(self, resps: Sequence[Any], docs: Sequence[Mapping[str, Any]]) -> list[Any]:
        """What the steps before the choice leave of each request: where repeats were asked for, all of them."""
        return _through(self.steps[: self._before_choice], resps, docs)

    def choose(self, kept: Sequence[Any], docs: Sequence[Mapping[str, Any]]) -> list[Any]:
        """The outputs, from what `keep` gave."""
        return _through(self.steps[self._before_choice :], kept, docs)

    @property
    def leaves_list(self) -> bool:
        """Whether a pipeline of our filters leaves a list of replies, even a list of one, and no single value."""
        chosen = [LEAVES_LIST[name] for name in self.step_names if name in LEAVES_LIST]
        return chosen[-1] if chosen else True

    @property
    def _before_choice(self) -> int:
        return len(self.steps) - (self.step_names[-1:] == (CHOICE,))


def _through(steps: Sequence[Filter], resps: Sequence[Any], docs: Sequence[Mapping[str, Any]]) -> list[Any]:
    outputs: list[Any] = list(resps)
    for step in steps:
        outputs = step(outputs, docs)
    return outputs
