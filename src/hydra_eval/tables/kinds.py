"""What an entry of a table asks of the model, told from its metrics alone."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from hydra_eval.errors import lookup

GENERATIVE, LOGPROBS, PERPLEXITY = "GENERATIVE", "LOGPROBS", "PERPLEXITY"
WITH_UNCONDITIONED = "LOGPROBS, unconditioned"
"""LOGPROBS for a metric that subtracts the choices' likelihoods after the unconditioned query."""


def category_of(metric: Any) -> str:
    """GENERATIVE, LOGPROBS or PERPLEXITY."""
    category = getattr(metric, "category", GENERATIVE)
    return str(getattr(category, "value", category))


def metrics_of(entry: Any, *, where: str) -> list[Any]:
    """The entry's metrics as objects; a name stands for the member of lighteval's `Metrics`."""
    known = importlib.import_module("lighteval.metrics.metrics").Metrics.__members__
    return [
        lookup(known, metric, kind="metric", where=f"{where}: task '{entry.name}'").value
        if isinstance(metric, str)
        else metric
        for metric in entry.metrics or ()
    ]


def output_type(metrics: Sequence[Any]) -> str:
    """lm-eval's word for it; `generate_until` where replies are asked for among other things."""
    asked = {category_of(metric) for metric in metrics}
    if GENERATIVE in asked or not asked:
        return "generate_until"
    return "multiple_choice" if LOGPROBS in asked else "loglikelihood_rolling"


def samples_of(entry: Any, metrics: Sequence[Any]) -> int:
    """Replies per prompt: as many as the entry or its most demanding metric wants."""
    own = [count for count in getattr(entry, "num_samples", None) or () if isinstance(count, int)]
    return max([1, *own, *map(replies_for, metrics)])


def replies_for(metric: Any) -> int:
    """Replies that one metric scores at a time; 1 where it does not say."""
    counting = getattr(getattr(metric, "sample_level_fn", None), "num_samples", None)
    count = counting() if callable(counting) else 1
    if isinstance(count, list | tuple):
        return max(count, default=1)
    return count if isinstance(count, int) and count > 0 else 1


def refers_to_unconditioned(metric: Any) -> bool:
    """The metric subtracts the likelihood of the choices after the unconditioned query."""
    options = getattr(getattr(metric, "sample_level_fn", None), "__dict__", {})
    return any(type(value).__name__ == "LogProbPMINorm" for value in options.values())
