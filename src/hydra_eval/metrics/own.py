"""Metrics that people write themselves, called as lm-eval calls them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from hydra_eval.errors import UserError
from hydra_eval.metrics.base import GenerationOutcome, Score
from hydra_eval.metrics.text import list_golds

CALLED_WITH = frozenset({"references", "predictions"})


def own_metric(
    function: Callable[..., Any],
    options: Mapping[str, Any],
    *,
    where: str,
    best: Callable[[Sequence[Any]], Any] = max,
) -> Score:
    """A score that calls `function(references=[gold], predictions=[reply], **options)`.

    A function that does not take those is called with one list, `function([gold, reply])`; its signature decides.
    Of several targets each is tried, and the `best` value counts (lm-eval makes 1.0 of everything but 0); a function
    whose value is no number is called once, with all targets in place of the gold. A mapping as value stands for
    several metrics: each of its keys is the name of one.
    """
    call = _calling(function, options, where)

    def score(outcome: GenerationOutcome) -> Any:
        if not outcome.multiple_target:
            return call(outcome.gold, outcome.prediction)
        golds = list_golds(outcome)
        values = [call(gold, outcome.prediction) for gold in golds]
        if values and all(isinstance(value, Mapping) for value in values):
            return {name: best([value[name] for value in values]) for name in values[0]}
        if all(isinstance(value, Real | np.bool_) for value in values):
            return best(values) if values else 0.0
        return call(golds, outcome.prediction)

    return score


def accepted_options(function: Callable[..., Any]) -> frozenset[str] | None:
    """Names of the options that `function` takes besides references and predictions; None where it takes any."""
    signature = _signature(function)
    if signature is None or any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values()):
        return None
    names = {p.name for p in signature.parameters.values() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    return frozenset(names - CALLED_WITH) if names >= CALLED_WITH else frozenset()


def _calling(function: Callable[..., Any], options: Mapping[str, Any], where: str) -> Callable[[Any, Any], Any]:
    signature = _signature(function)
    if signature is None or _binds(signature, references=[], predictions=[], **options):
        return lambda gold, prediction: function(references=[gold], predictions=[prediction], **options)
    if _binds(signature, []):
        return lambda gold, prediction: function([gold, prediction])
    raise UserError(
        f"{where}: its function takes {signature}, which is neither (references, predictions, **options) "
        f"nor one list [gold, prediction]; options given: {', '.join(options) or 'none'}."
    )


def _signature(function: Callable[..., Any]) -> inspect.Signature | None:
    """None for the few built-in functions that do not tell theirs."""
    try:
        return inspect.signature(function)
    except ValueError:
        return None


def _binds(signature: inspect.Signature, *args: Any, **kwargs: Any) -> bool:
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        return False
    return True
