"""Scores of generated text."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hydra_eval.metrics.base import GenerationOutcome
from hydra_eval.patterns import compile_patterns

WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)
WITHOUT_DIGITS = str.maketrans("", "", string.digits)


def exact_match(
    outcome: GenerationOutcome,
    *,
    regexes_to_ignore: Sequence[str] | str | None = None,
    ignore_case: Any = False,
    ignore_punctuation: Any = False,
    ignore_numbers: Any = False,
) -> float:
    """1.0 where reply and gold are equal; of several targets, where any is. A list of replies gets its share.

    Both sides first lose what `regexes_to_ignore` match, one after the other, then case, ASCII punctuation and digits.
    Texts are compared as numpy compares them, because lm-eval does: NUL characters at an end do not count.
    """
    golds = list_golds(outcome) if outcome.multiple_target else [outcome.gold]
    if not golds:
        return 0.0
    sides = ([outcome.prediction] * len(golds), golds)
    prediction, gold = (_without_matches(side, regexes_to_ignore) for side in sides)
    if ignore_case:
        prediction, gold = np.char.lower(prediction), np.char.lower(gold)
    for ignore, table in ((ignore_punctuation, WITHOUT_PUNCTUATION), (ignore_numbers, WITHOUT_DIGITS)):
        if ignore:
            prediction, gold = _translated(prediction, table), _translated(gold, table)
    share = float(np.mean(prediction == gold))
    return float(share > 0) if outcome.multiple_target else share


def gold_and_prediction(outcome: GenerationOutcome) -> list[Any]:
    """[gold, prediction], for aggregations over the whole set; several targets stay a list."""
    return [outcome.gold, outcome.prediction]


def bypass(outcome: GenerationOutcome) -> None:
    """Nothing: the replies are wanted, not a score."""


def list_golds(outcome: GenerationOutcome) -> list[Any]:
    """The targets of a document whose task has several; some documents give one without a list."""
    return list(outcome.gold) if isinstance(outcome.gold, list | tuple) else [outcome.gold]


def _without_matches(texts: Sequence[Any], patterns: Sequence[str] | str | None) -> NDArray[Any]:
    remaining = np.asarray(texts)
    for pattern in compile_patterns(patterns):
        remaining = np.array([pattern.sub("", text) for text in remaining])
    return remaining


def _translated(texts: NDArray[Any], table: dict[int, int | None]) -> NDArray[Any]:
    # numpy hands the table to str.translate as it is; its type hints know only tables that are strings.
    return np.char.translate(texts, table)  # type: ignore[call-overload, no-any-return]
