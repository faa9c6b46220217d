"""Scores of multiple-choice documents. Of equal choices the first wins; a gold that is not among them never does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hydra_eval.metrics.base import ChoiceOutcome
from hydra_eval.stats.aggregations import NO_CHOICE


def acc(outcome: ChoiceOutcome) -> float:
    """The likeliest choice is right."""
    return _is_right(_pick(outcome.logprobs), outcome.gold)


def acc_norm(outcome: ChoiceOutcome) -> float:
    """The likeliest choice per character is right; the delimiter before it is not counted."""
    return _is_right(_pick_per_unit(outcome, [len(choice) for choice in outcome.choices]), outcome.gold)


def acc_bytes(outcome: ChoiceOutcome) -> float:
    """The likeliest choice per UTF-8 byte is right; the delimiter before it is not counted."""
    lengths = [len(choice.encode("utf-8")) for choice in outcome.choices]
    return _is_right(_pick_per_unit(outcome, lengths), outcome.gold)


def acc_mutual_info(outcome: ChoiceOutcome) -> float:
    """The choice that gains most from its context is right."""
    assert outcome.unconditional is not None, "requests of acc_mutual_info include the choices without context"
    return _is_right(_pick(np.subtract(outcome.logprobs, outcome.unconditional)), outcome.gold)


def exact_match(outcome: ChoiceOutcome) -> int:
    """A right choice is what greedy decoding gives."""
    return int(any(outcome.is_greedy[index] for index in _golds(outcome.gold) if index != NO_CHOICE))


def gold_and_pick(outcome: ChoiceOutcome) -> tuple[Any, int]:
    """(gold, likeliest choice), for aggregations over classes."""
    return outcome.gold, _pick(outcome.logprobs)


def gold_and_probabilities(outcome: ChoiceOutcome) -> tuple[Any, tuple[float, ...]]:
    """(gold, probabilities of the choices, which sum to 1)."""
    weights = np.exp(np.subtract(outcome.logprobs, np.max(outcome.logprobs)))
    return outcome.gold, tuple((weights / weights.sum()).tolist())


def gold_and_logprobs(outcome: ChoiceOutcome) -> tuple[Any, tuple[float, ...]]:
    """(gold, log-likelihoods of the choices in nats)."""
    return outcome.gold, tuple(outcome.logprobs)


def _golds(gold: int | Sequence[int]) -> Sequence[int]:
    return [gold] if isinstance(gold, int) else gold


def _is_right(pick: int, gold: int | Sequence[int]) -> float:
    return 1.0 if pick in _golds(gold) else 0.0


def _pick(logprobs: ArrayLike) -> int:
    return int(np.argmax(logprobs))


def _pick_per_unit(outcome: ChoiceOutcome, lengths: Sequence[int]) -> int:
    # An empty choice has no length to share its likelihood among: minus infinity, so that it never wins.
    with np.errstate(divide="ignore", invalid="ignore"):
        return _pick(np.divide(outcome.logprobs, np.array(lengths, dtype=float)))
