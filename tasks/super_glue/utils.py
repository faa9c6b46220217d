"""Hooks for cb, record and wsc.

record: {"passage": "Oslo froze.\n@highlight\nThe harbour closed", "query": "Ships left @placeholder in time",
         "entities": ["Oslo", "Oslo", "Bergen"], "answers": ["Oslo"]}
wsc: {"text": "Ana thanked Mia because she had called .", "span1_text": "Mia", "span2_text": "she", "span2_index": 4}
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from string import punctuation
from typing import Any

import numpy as np
from sklearn.metrics import f1_score

LABELS = (0, 1, 2)
HIGHLIGHT = "\n@highlight\n"
TOGETHER = ((" n't", "n't"), (" )", ")"), ("( ", "("), ('" ', '"'), (' "', '"'))
"""Blanks that a tokenizer for English has put between words and signs."""


def mean_f1(items: Sequence[tuple[int, int]]) -> float:
    """F1 of each label against the rest, all labels counting alike; `items` are (gold, prediction), or the reverse."""
    one, other = (np.array(side) for side in zip(*items, strict=True))
    return float(np.mean([f1_score(one == label, other == label) for label in LABELS]))


def names_once(dataset: Any) -> Any:
    """Every name once, in alphabetical order."""
    return dataset.map(lambda doc: {column: sorted(set(doc[column])) for column in ("entities", "answers")})


def article(doc: Mapping[str, Any]) -> str:
    """The text, and its summary as a list: the query is to be the next point."""
    text, *points = doc["passage"].strip().split(HIGHLIGHT)
    return "\n".join([text, "", *(f"  - {point}." for point in points), ""])


def filled_queries(doc: Mapping[str, Any]) -> list[str]:
    return [_filled(doc, name) for name in doc["entities"]]


def right_query(doc: Mapping[str, Any]) -> str:
    return _filled(doc, doc["answers"][0])


def likeliest_name(doc: Mapping[str, Any], results: Sequence[tuple[float, bool]]) -> dict[str, float]:
    """The likeliest name against the right one that it is most like."""
    name = doc["entities"][int(np.argmax([logprob for logprob, _ in results]))]
    pairs = [(_words(name), _words(right)) for right in doc["answers"]]
    return {"f1": max(_shared(*pair) for pair in pairs), "em": max(float(one == other) for one, other in pairs)}


def passage_with_pronoun(doc: Mapping[str, Any]) -> str:
    """The passage with stars around the pronoun, and whether it is the noun."""
    text, pronoun = doc["text"], doc["span2_text"]
    before = " ".join(text.split()[: doc["span2_index"]])
    after = text[len(before) + len(pronoun) + 1 :]
    question = f'In the passage above, does the pronoun "*{pronoun}*" refer to "*{doc["span1_text"]}*"?'
    return f"Passage: {_joined(f'{before} *{pronoun}*{after}')}\nQuestion: {question}\nAnswer:"


def _filled(doc: Mapping[str, Any], name: str) -> str:
    return f"  - {doc['query']}".replace("@placeholder", name)


def _words(name: str) -> list[str]:
    """Small letters, no signs and no articles, as SQuAD compares answers."""
    letters = "".join(sign for sign in name.lower() if sign not in punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", letters).split()


def _shared(one: Sequence[str], other: Sequence[str]) -> float:
    """F1 of the words."""
    if not one or not other:
        return float(one == other)
    return 2 * (Counter(one) & Counter(other)).total() / (len(one) + len(other))


def _joined(text: str) -> str:
    for apart, together in TOGETHER:
        text = text.replace(apart, together)
    return re.sub(r" (['.,])", r"\1", text)
