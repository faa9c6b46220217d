"""Hooks for questions that a paragraph may leave unanswered; an empty reply is the right one then.

{"id": "q1", "title": "Lamps", "context": "Ada lit the blue lamp at noon.", "question": "Which lamp did Ada light?",
 "answers": {"text": ["the blue lamp", "blue"], "answer_start": [8, 12]}}

Scores are those of SQuAD 2.0's own evaluation, in percent, as lm-eval 0.4.13 reports them.
"""

from __future__ import annotations

import math
import re
import string
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from hydra_eval.lm_eval_compat.api.instance import Instance
from hydra_eval.lm_eval_compat.api.task import ConfigurableTask

NO_ANSWER = " unanswerable"
ARTICLES = re.compile(r"\b(?:a|an|the)\b")
WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)


class WithNoAnswer(ConfigurableTask):
    """The task file's own request, and the likelihood of `unanswerable` after the same prompt."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__(config={key: value for key, value in config.items() if key != "class"})

    def construct_requests(self, doc: Any, ctx: Any, **kwargs: Any) -> list[Any]:
        reply = super().construct_requests(doc, ctx, **kwargs)
        return [reply, Instance("loglikelihood", doc, (ctx, NO_ANSWER), idx=1, metadata=reply.metadata)]


def score_reply(doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, Any]:
    """Exact match and F1, of all documents and of those with or without an answer; and what `best_*` are made of."""
    reply, (logprob, _) = results
    golds = [words for text in doc["answers"]["text"] if (words := plain_words(text))] or [[]]
    has_answer = bool(doc["answers"]["text"])
    given = plain_words(reply)
    scores = {"exact": float(given in golds), "f1": max(f1(given, gold) for gold in golds)}
    kind = "HasAns" if has_answer else "NoAns"
    lost = 0 if reply == "" else -1
    return {
        **{name: 100 * value for name, value in scores.items()},
        **{f"{kind}_{name}": 100 * value for name, value in scores.items()},
        **{
            f"best_{name}": (math.exp(logprob), value if has_answer else lost, has_answer)
            for name, value in scores.items()
        },
    }


def at_best_threshold(values: Sequence[tuple[float, float, bool]]) -> float:
    """The score if replies counted only up to the best probability of no answer, found on these documents.

    Values are (that probability, what counting the reply wins or loses, whether there is an answer).
    """
    unanswered = sum(not has_answer for _, _, has_answer in values)
    gains = [gain for _, gain, _ in sorted(values, key=lambda value: value[0])]
    return 100 * (unanswered + max(accumulate(gains, initial=0))) / len(values)


def f1(given: Sequence[str], gold: Sequence[str]) -> float:
    """Of the words, counted as often as they come; two empty texts are equal."""
    if not given or not gold:
        return float(given == gold)
    shared = sum((Counter(given) & Counter(gold)).values())
    return 2 * shared / (len(given) + len(gold))


def plain_words(text: str) -> list[str]:
    """Lower case, without punctuation and articles."""
    return ARTICLES.sub(" ", text.lower().translate(WITHOUT_PUNCTUATION)).split()
