"""How the values of a task's documents become one number. Pure functions; `hydra_eval.metrics` names them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hydra_eval.errors import UserError

BYPASSED = 999
"""lm-eval's stand-in for the result of `bypass`, which scores nothing."""

NO_CHOICE = -100
"""Gold index that stands for an answer that is not among the choices."""


def mean(values: Sequence[Any]) -> Any:
    return sum(values) / len(values)


def nanmean(values: Sequence[float]) -> float:
    """Mean of the values that are numbers; NaN where none is."""
    numbers = np.asarray(values, dtype=float)
    known = numbers[~np.isnan(numbers)]
    return float(known.mean()) if known.size else math.nan


def median(values: Sequence[Any]) -> Any:
    """The upper of the two middle values where their number is even, as in lm-eval."""
    return sorted(values)[len(values) // 2]


def perplexity(values: Sequence[float]) -> float:
    """Values are log-likelihoods in nats, one per document."""
    return exponential(-mean(values))


def weighted_perplexity(values: Sequence[tuple[float, float]]) -> float:
    """Values are (log-likelihood in nats, number of words or bytes)."""
    return exponential(-_per_unit(values))


def bits_per_byte(values: Sequence[tuple[float, float]]) -> float:
    """Values are (log-likelihood in nats, number of bytes)."""
    return -_per_unit(values) / math.log(2)


def f1(values: Sequence[tuple[Any, Any]]) -> float:
    """F1 of class 1; values are (gold, predicted) and hold no more than two classes."""
    from sklearn.metrics import f1_score

    golds, predicted = zip(*values, strict=True)
    try:
        return float(f1_score(golds, predicted, zero_division=0.0))
    except ValueError as error:
        raise UserError(
            f"aggregation 'f1' is for the classes 0 and 1: {error} For other classes take f1_macro, f1_micro, "
            "f1_weighted or f1_max, or an own one (!function)."
        ) from error


def f1_macro(values: Sequence[tuple[Any, Any]]) -> float:
    """Mean of the classes' F1; values are (gold, predicted)."""
    return float(_f1_scores(values, "macro"))


def f1_micro(values: Sequence[tuple[Any, Any]]) -> float:
    """F1 over all decisions, whatever their class; values are (gold, predicted)."""
    return float(_f1_scores(values, "micro"))


def f1_weighted(values: Sequence[tuple[Any, Any]]) -> float:
    """Mean of the classes' F1, weighted by how often each is right; values are (gold, predicted)."""
    return float(_f1_scores(values, "weighted"))


def f1_max(values: Sequence[tuple[Any, Any]]) -> float:
    """F1 of the class that does best; values are (gold, predicted)."""
    return float(np.max(_f1_scores(values, None)))


def balanced_acc(values: Sequence[tuple[Any, Any]]) -> float:
    """Mean of the classes' recall; values are (gold, predicted)."""
    from sklearn.metrics import balanced_accuracy_score

    golds, predicted = zip(*values, strict=True)
    return float(balanced_accuracy_score(golds, predicted))


def matthews_corrcoef(values: Sequence[tuple[Any, Any]]) -> float:
    """Matthews' correlation, for any number of classes; values are (gold, predicted)."""
    from sklearn.metrics import matthews_corrcoef as correlation

    golds, predicted = zip(*values, strict=True)
    return float(correlation(golds, predicted))


def brier_score(values: Sequence[tuple[int, Sequence[float]]]) -> float:
    """Mean squared distance between forecast and outcome, summed over choices; values are (gold, probabilities).

    Documents may differ in their number of choices. A gold that is not among them is a class with forecast 0.
    """
    return float(np.mean([_squared_distance(gold, probabilities) for gold, probabilities in values]))


def gold_loglikelihood(values: Sequence[tuple[Any, Sequence[float]]]) -> float:
    """Mean log-likelihood of the right choice in nats; of several right ones, of their summed probability."""
    return float(np.mean([_gold_logprob(gold, logprobs) for gold, logprobs in values]))


def acc_all(values: Sequence[tuple[Any, Any]]) -> float:
    """Share of groups whose documents are all right; values are (right, group), or lm-eval's (predicted, document)."""
    return mean(groups_right(values))  # type: ignore[no-any-return]


def groups_right(values: Sequence[tuple[Any, Any]], *, by_question: bool = False) -> list[int]:
    """1 for every group whose documents are all right, in order of appearance.

    lm-eval's form holds the document, whose group is (paragraph, question), or with `by_question` the question alone:
    the error of `acc_all` is told from those.
    """
    right: dict[Any, int] = {}
    for answer, group in values:
        if isinstance(group, Mapping):
            answer = (group["label"] == 1) == answer
            question = group["idx"]["question"]
            group = question if by_question else (group["idx"]["paragraph"], question)
        right[group] = min(right.get(group, 1), int(bool(answer)))
    return list(right.values())


def bypass(values: Sequence[Any]) -> int:
    return BYPASSED


def exponential(value: float) -> float:
    """`math.exp` that gives infinity where it would overflow."""
    return math.exp(value) if value < math.log(np.finfo(float).max) else math.inf


def _f1_scores(values: Sequence[tuple[Any, Any]], average: str | None) -> Any:
    from sklearn.metrics import f1_score

    golds, predicted = zip(*values, strict=True)
    return f1_score(golds, predicted, average=average, zero_division=0.0)


def _per_unit(values: Sequence[tuple[float, float]]) -> float:
    logprobs, units = zip(*values, strict=True)
    return float(sum(logprobs) / sum(units))


def _squared_distance(gold: int, probabilities: Sequence[float]) -> float:
    distances = np.array(probabilities, dtype=float)
    if gold == NO_CHOICE:
        return float(np.sum(distances**2)) + 1.0
    distances[gold] -= 1.0
    return float(np.sum(distances**2))


def _gold_logprob(gold: Any, logprobs: Sequence[float]) -> float:
    golds = [index for index in (gold if isinstance(gold, list | tuple) else [gold]) if index != NO_CHOICE]
    if not golds:
        raise UserError(
            "metric 'likelihood': a document's right answer is not among its choices, so it has no likelihood. "
            "Mend the task's doc_to_target, or leave the metric out."
        )
    return float(np.logaddexp.reduce([logprobs[index] for index in golds]))
