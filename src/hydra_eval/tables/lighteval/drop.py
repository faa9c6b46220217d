"""DROP's exact match and numeracy-aware F1 over sets of answer spans."""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from typing import Any

import numpy as np

from hydra_eval.tables.lighteval.answers import ModelResponse
from hydra_eval.tables.lighteval.docs import Doc
from hydra_eval.tables.lighteval.metric_types import SampleLevelComputation
from hydra_eval.tables.optional import needed

ARTICLES = re.compile(r"\b(?:a|an|the)\b")


class DropMetrics(SampleLevelComputation):
    """em and f1 against each of `specific["golds_no_preprocessing"]`, the best of which counts."""

    def compute(self, doc: Doc, model_response: ModelResponse, **kwargs: Any) -> dict[str, float]:
        best = {"em": 0.0, "f1": 0.0}
        for gold in (doc.specific or {})["golds_no_preprocessing"]:
            spans = list(gold) if isinstance(gold, list | tuple) else [gold]
            if spans[0].strip():
                em, f1 = drop_scores(model_response.text, spans)
                best = {"em": max(best["em"], em), "f1": max(best["f1"], f1)}
        return best


def drop_scores(replies: Sequence[str], golds: Sequence[str]) -> tuple[float, float]:
    """(exact match, F1 rounded to two places) of two sets of spans."""
    said, right = ([normalized(span) for span in spans] for spans in (replies, golds))
    return float(set(said) == set(right)), round(float(np.mean(_aligned(said, right))), 2)


def _aligned(said: Sequence[str], right: Sequence[str]) -> Any:
    """Each span's F1 in the best one-to-one pairing of replies and golds."""
    table = np.array([[_f1(set(one.split()), set(gold.split())) for one in said] for gold in right])
    rows, columns = needed("scipy.optimize").linear_sum_assignment(-table)
    best = np.zeros(max(table.shape))
    best[rows] = table[rows, columns]
    return best


def _f1(said: set[str], right: set[str]) -> float:
    """Of two bags of words; 0 where the gold has numbers and the reply has none of them."""
    numbers = {word for word in right if is_number(word)}
    if numbers and not numbers & said:
        return 0.0
    common = len(said & right)
    precision = common / len(said) if said else 1.0
    recall = common / len(right) if right else 1.0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def normalized(text: str) -> str:
    """Lower case, without articles and punctuation, numbers in one spelling."""
    return " ".join(word for part in re.split("[ -]", text) if (word := _word(part.lower())))


def _word(part: str) -> str:
    bare = part if is_number(part) else "".join(sign for sign in part if sign not in string.punctuation)
    bare = str(float(bare)) if is_number(bare) else bare
    return " ".join(ARTICLES.sub(" ", bare).split())


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
