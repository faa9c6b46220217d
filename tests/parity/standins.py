"""Stands in for what task code wants and this environment lacks, in both programs alike; and saves lm-eval's time."""

from __future__ import annotations

import hashlib
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import Any
from unittest.mock import patch


class Numbers(dict[Any, Any]):
    """A number under every name, made from the inputs; `pass@k` comes as the first of a pair."""

    def __init__(self, seed: str, count: int) -> None:
        super().__init__()
        self.seed, self.count = seed, count

    def __missing__(self, name: Any) -> Any:
        if name == 0:
            return {f"pass@{k}": self[f"pass@{k}"] for k in (1, 2)}
        number = hashlib.sha256(f"{self.seed}|{name}".encode()).digest()[0] / 256
        return [number] * self.count if name in ("precision", "recall") and self.count else number


class Metric:
    """Scores by a hash of what it is given."""

    def __init__(self, name: str) -> None:
        self.name = name

    def compute(self, *, predictions: Any = (), references: Any = (), **options: Any) -> Numbers:
        return Numbers(f"{self.name}|{predictions}|{references}", len(predictions))


def squad_metrics() -> ModuleType:
    """What transformers had under this name up to its fourth version, as far as tasks use it."""
    module = ModuleType("transformers.data.metrics.squad_metrics")

    def normalize_answer(text: str) -> str:
        return " ".join(word.strip(".,;:!?'\"") for word in text.lower().split() if word not in ("a", "an", "the"))

    def compute_exact(gold: str, reply: str) -> int:
        return int(normalize_answer(gold) == normalize_answer(reply))

    def compute_f1(gold: str, reply: str) -> float:
        golds, replies = normalize_answer(gold).split(), normalize_answer(reply).split()
        common = sum((Counter(golds) & Counter(replies)).values())
        return 2 * common / (len(golds) + len(replies)) if common else 0.0

    vars(module).update(normalize_answer=normalize_answer, compute_exact=compute_exact, compute_f1=compute_f1)
    return module


def modules() -> dict[str, ModuleType]:
    metrics = ModuleType("transformers.data.metrics")
    squad = squad_metrics()
    vars(metrics).update(squad_metrics=squad, __path__=[])
    return {metrics.__name__: metrics, squad.__name__: squad}


@contextmanager
def stood_in_for() -> Iterator[None]:
    """Metrics that `evaluate` fetches from the hub, and names that numpy and transformers have dropped.

    lm-eval compiles each template anew for each row; here it does so once.
    """
    import evaluate
    import numpy
    from lm_eval.utils import env

    with (
        patch.dict(sys.modules, modules()),
        patch.object(evaluate, "load", lambda name, *args, **kwargs: Metric(name)),
        patch.object(numpy, "NAN", numpy.nan, create=True),
        patch.object(env, "from_string", cache(env.from_string)),
    ):
        yield
