"""Exact match and F1 of SQuAD answers, by the rules of its official evaluation."""

from __future__ import annotations

import re
import string
from collections import Counter

ARTICLES = re.compile(r"\b(a|an|the)\b")
WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalize_answer(s: str) -> str:
    """Lower case, without punctuation and articles, words apart by one blank."""
    return " ".join(ARTICLES.sub(" ", s.lower().translate(WITHOUT_PUNCTUATION)).split())


def get_tokens(s: str) -> list[str]:
    return normalize_answer(s).split()


def compute_exact(a_gold: str, a_pred: str) -> int:
    return int(normalize_answer(a_gold) == normalize_answer(a_pred))


def compute_f1(a_gold: str, a_pred: str) -> float:
    """F1 of the words; where either answer has none, whether both have none."""
    gold, predicted = get_tokens(a_gold), get_tokens(a_pred)
    if not gold or not predicted:
        return int(gold == predicted)
    common = sum((Counter(gold) & Counter(predicted)).values())
    return 2 * common / (len(gold) + len(predicted))
