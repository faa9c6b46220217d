"""Hooks for answers that are numbers, dates or spans of text.

{"query_id": "q1", "passage": "Ada sold 4 lamps in May and 7 in June.", "question": "How many lamps in both?",
 "answer": {"number": "11", "date": {"day": "", "month": "", "year": ""}, "spans": []},
 "validated_answers": {"number": ["11"], "date": [{"day": "", "month": "", "year": ""}], "spans": [[]]}}

Scores are those of lm-eval 0.4.13, after Dua et al. 2019, for a reply that counts as one span.
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

ARTICLES = re.compile(r"\b(?:a|an|the)\b")
WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)


def add_answers(docs: Any) -> Any:
    """The column `answers` of a `datasets.Dataset`: every answer that some annotator gave, as a list of spans."""
    return docs.map(lambda doc: {"answers": all_answers(doc)})


def all_answers(doc: Mapping[str, Any]) -> list[list[str]]:
    columns = ("number", "date", "spans")
    validated = zip(*(doc["validated_answers"][column] for column in columns), strict=True)
    given = [doc["answer"], *(dict(zip(columns, values, strict=True)) for values in validated)]
    return [list(spans) for spans in dict.fromkeys(_spans(answer) for answer in given)]


def _spans(answer: Mapping[str, Any]) -> tuple[str, ...]:
    if answer["number"] != "":
        return (str(answer["number"]),)
    date = answer["date"]
    return tuple(answer["spans"]) or (" ".join((date["day"], date["month"], date["year"])).strip(),)


def score_reply(doc: Mapping[str, Any], results: list[str]) -> dict[str, float]:
    """Exact match and F1 with the nearest of the answers that are not empty."""
    given = plain(results[0])
    golds = [[plain(span) for span in answer] for answer in doc["answers"] if answer[0].strip()]
    return {
        "em": max((float(spans == [given]) for spans in golds), default=0.0),
        "f1": max((overlap(given, spans) for spans in golds), default=0.0),
    }


def overlap(given: str, spans: Sequence[str]) -> float:
    """F1 of the reply with its best span, shared out over all spans, to two decimals."""
    best = max(f1(set(given.split()), set(span.split())) for span in spans)
    return float(np.round(best / len(spans), 2))


def f1(given: set[str], gold: set[str]) -> float:
    """0 where the gold answer has numbers and the reply none of them."""
    numbers = {word for word in gold if is_number(word)}
    if numbers and not numbers & given:
        return 0.0
    shared = len(given & gold)
    precision = shared / len(given) if given else 1.0
    recall = shared / len(gold) if gold else 1.0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def plain(text: str) -> str:
    """Lower case, without punctuation and articles; numbers in one spelling; hyphens part words."""
    words = (_plain_word(word) for word in re.split(r"[ -]", text.lower()))
    return " ".join(word for word in words if word)


def _plain_word(word: str) -> str:
    bare = word if is_number(word) else word.translate(WITHOUT_PUNCTUATION)
    return " ".join(ARTICLES.sub(" ", str(float(bare)) if is_number(bare) else bare).split())


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
