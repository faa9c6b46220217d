"""Scores over several replies to one document, by any score of a single one.

`n` replies count, the first ones; without it all do. A reply is right where its score is 1 or more. Drawing k of n
replies, c of them right, finds j right ones with probability C(c, j) · C(n - c, k - j) / C(n, k): what stands here is
that, without a draw, so that no luck comes in on top of the model's (Chen et al. 2021 for pass@k; Liu et al. 2024 for
G-Pass@k and mG-Pass@k).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hydra_eval.errors import UserError
from hydra_eval.metrics.base import GenerationOutcome, Score

THRESHOLDS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Shares of the k replies that must be right, as their authors report them; 0 asks for one right reply."""


def average(outcome: GenerationOutcome, *, score: Score, n: int | None = None) -> float:
    """Mean score of the replies."""
    scores = _scores(outcome, score, n)
    return sum(scores) / len(scores)


def majority(outcome: GenerationOutcome, *, score: Score, n: int | None = None) -> float:
    """Score of the most frequent reply; of equally frequent ones the one that came first, as in lm-eval.

    Replies are compared as the pipeline leaves them, a failed extraction like any other.
    """
    replies = _first(outcome, n)
    votes = Counter(map(repr, replies))
    winner = max(replies, key=lambda reply: votes[repr(reply)])
    return _scores(replace(outcome, replies=[winner]), score, 1)[0]


def pass_at(outcome: GenerationOutcome, *, score: Score, k: int, n: int | None = None) -> float:
    """Probability that one at least of k replies is right."""
    return probability(1, right=_right(outcome, score, n), k=k, n=_count(outcome, n))


def g_pass_at(
    outcome: GenerationOutcome,
    *,
    score: Score,
    k: int,
    n: int | None = None,
    thresholds: Any = THRESHOLDS,
) -> Mapping[str, float]:
    """`threshold=t` → probability that a share t at least of k replies is right, for one threshold or a list."""
    right, count = _right(outcome, score, n), _count(outcome, n)
    shares = thresholds if isinstance(thresholds, list | tuple) else [thresholds]
    return {f"threshold={t}": probability(_least(t, k), right=right, k=k, n=count) for t in shares}


def mg_pass_at(outcome: GenerationOutcome, *, score: Score, k: int, n: int | None = None) -> float:
    """Mean of G-Pass@k over the thresholds above one half, as its authors sum it: 2/k for each whole number of them."""
    right, count = _right(outcome, score, n), _count(outcome, n)
    needed = range(math.ceil(k / 2) + 1, k + 1)
    return 2 / k * sum(probability(least, right=right, k=k, n=count) for least in needed)


def probability(least: int, *, right: int, k: int, n: int) -> float:
    """That k of n replies, `right` of them right, hold `least` right ones or more."""
    ways = sum(math.comb(right, found) * math.comb(n - right, k - found) for found in range(least, min(k, right) + 1))
    return ways / math.comb(n, k)


def _least(threshold: float, k: int) -> int:
    """Rounded first: 0.28 of 25 is 7, though its product is a little more in floating point."""
    return max(math.ceil(round(threshold * k, 9)), 1)


def _right(outcome: GenerationOutcome, score: Score, n: int | None) -> int:
    return sum(value >= 1 for value in _scores(outcome, score, n))


def _scores(outcome: GenerationOutcome, score: Callable[[GenerationOutcome], Any], n: int | None) -> list[float]:
    scores = [score(replace(outcome, prediction=reply, replies=())) for reply in _first(outcome, n)]
    for value in scores:
        if isinstance(value, list | tuple | Mapping) or value is None:
            raise UserError(f"a metric over several replies needs a number for each, but its score gives {value!r}.")
    return scores


def _first(outcome: GenerationOutcome, n: int | None) -> Sequence[Any]:
    return outcome.replies[: _count(outcome, n)]


def _count(outcome: GenerationOutcome, n: int | None) -> int:
    return len(outcome.replies) if n is None else n
