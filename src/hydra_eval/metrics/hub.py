"""Metrics of the Hugging Face library `evaluate`, whose code comes from the hub or from a local folder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hydra_eval.errors import UserError

REMEDY = (
    "Name a local copy of its script (metric: path/to/folder, hf_evaluate: true), write the metric as !function, or "
    "choose others with metrics=…"
)


def load_compute(name: str, *, where: str) -> Callable[..., Any]:
    """`compute(references=…, predictions=…, **options)` of a metric. Raises UserError where it cannot be had."""
    try:
        import evaluate
    except ImportError as error:
        raise UserError(
            f"{where} comes from the library evaluate, which is not installed: pip install evaluate. {REMEDY}."
        ) from error
    try:
        # In memory: without that, every process writes to the same file of the cache.
        module = evaluate.load(name, keep_in_memory=True)
    except (OSError, ImportError, ValueError) as error:
        raise UserError(
            f"{where} comes from the library evaluate, which cannot load it: {str(error).rstrip('.')}. {REMEDY}."
        ) from error
    compute: Callable[..., Any] = module.compute
    return compute
