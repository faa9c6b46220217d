"""What a filter is: replies of one document in, replies or outputs out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Filter: TypeAlias = Callable[[Sequence[Any], Sequence[Mapping[str, Any]]], list[Any]]
"""`(resps, docs) -> outputs`, one entry per request. `resps[i]` is the list of replies (one per repeat) to request i,
or whatever the step before made of it; `docs[i]` is the row that request i belongs to."""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Named steps that every request's replies pass in order."""

    name: str
    steps: tuple[Filter, ...]
    step_names: tuple[str, ...] = ()
    """As the task or the command line calls them."""

    def __call__(self, resps: Sequence[Any], docs: Sequence[Mapping[str, Any]]) -> list[Any]:
        outputs: list[Any] = list(resps)
        for step in self.steps:
            outputs = step(outputs, docs)
        return outputs
