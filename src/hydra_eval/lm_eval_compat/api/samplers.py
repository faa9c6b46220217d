"""Draws the examples of a task class: one generator per task, consumed document by document, as in lm-eval."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from hydra_eval.errors import lookup


class ContextSampler:
    def __init__(self, df: Sequence[Any] = (), *, rnd: int | None = None, **kwargs: Any) -> None:
        self.df = list(df)
        self.rnd = Random(rnd)

    def set_rnd(self, rnd: int | None) -> ContextSampler:
        self.rnd = Random(rnd)
        return self

    def sample(self, n: int, eval_doc: Any = None, **kwargs: Any) -> list[Any]:
        """`n` documents, never `eval_doc`, which takes one draw more."""
        if not eval_doc:
            return self.rnd.sample(self.df, n)
        drawn = [doc for doc in self.rnd.sample(self.df, n + 1) if doc != eval_doc][:n]
        return drawn if len(drawn) == n else self.rnd.sample([doc for doc in self.df if doc != eval_doc], n)


class FirstNSampler(ContextSampler):
    def sample(self, n: int, eval_doc: Any = None, **kwargs: Any) -> list[Any]:
        return [doc for doc in self.df if eval_doc is None or doc != eval_doc][:n]


SAMPLER_REGISTRY: dict[str, type[ContextSampler]] = {"default": ContextSampler, "first_n": FirstNSampler}


def get_sampler(name: str) -> type[ContextSampler]:
    return lookup(SAMPLER_REGISTRY, name, kind="sampler", where="fewshot_config")
