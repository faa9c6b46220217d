"""Functions that task code takes from `lm_eval.utils`."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np
from sklearn.metrics import f1_score

from hydra_eval.tasks.templates import render

C = TypeVar("C", bound=Callable[..., Any])

eval_logger = logging.getLogger("lm_eval")

DETOKENIZED = ((" n't", "n't"), (" )", ")"), ("( ", "("), ('" ', '"'), (' "', '"'))
"""Spaces that a tokenised text has and a written one has not, in the order of replacement."""


def weighted_f1_score(items: Iterable[tuple[Any, Any]]) -> float:
    """F1 averaged over classes by their support; items are (gold, predicted)."""
    golds, predicted = zip(*items, strict=True)
    return f1_score(golds, predicted, average="weighted")  # type: ignore[no-any-return]


def general_detokenize(string: str) -> str:
    for spaced, written in DETOKENIZED:
        string = string.replace(spaced, written)
    return re.sub(r" (['.,])", r"\1", string)


def softmax(x: Any) -> Any:
    powers = np.exp(x - np.max(x))
    return powers / powers.sum()


def apply_template(template: str, doc: dict[str, Any]) -> str:
    return render(template, doc, where="lm_eval.utils.apply_template")


def regex_replace(string: str, pattern: str, repl: str, count: int = 0) -> str:
    return re.sub(pattern, repl, string, count=count)


def positional_deprecated(fn: C) -> C:
    """A mark on functions of old task code, without effect."""
    return fn
