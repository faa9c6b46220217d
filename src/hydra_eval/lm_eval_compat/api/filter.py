"""Filters as task code writes them: a class with `apply(resps, docs)`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from hydra_eval.lm_eval_compat.api.instance import Instance


class Filter(ABC):
    def __init__(self, **kwargs: Any) -> None:  # noqa: B027  # options are the subclass's business
        pass

    @abstractmethod
    def apply(self, resps: Any, docs: Any) -> Iterable[Any]:
        """One entry per request, in order. `resps[i]` is the list of replies to request i, `docs[i]` its document."""
        return resps  # type: ignore[no-any-return]


@dataclass
class FilterEnsemble:
    """A named chain of filters; each is made anew for every use."""

    name: str
    filters: list[Callable[[], Filter]]

    def apply(self, instances: Sequence[Instance]) -> None:
        resps: Iterable[Any] = [instance.resps for instance in instances]
        docs = [instance.doc for instance in instances]
        for make in self.filters:
            resps = make().apply(resps, docs)
        for instance, filtered in zip(instances, resps, strict=True):
            instance.filtered_resps[self.name] = filtered
