"""Scores of replies against the right answers' texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hydra_eval.tables.lighteval.answers import ModelResponse
from hydra_eval.tables.lighteval.docs import Doc, as_list
from hydra_eval.tables.lighteval.metric_types import SampleLevelComputation
from hydra_eval.tables.optional import needed

Normalizer = Callable[[str], str] | None


@dataclass
class ExactMatches(SampleLevelComputation):
    """A reply equals, starts with or ends with a right answer: 1; an empty reply: 0."""

    aggregation_function: Callable[[list[Any]], Any] = max
    normalize_gold: Normalizer = None
    normalize_pred: Normalizer = None
    strip_strings: bool = False
    type_exact_match: str = "full"

    def __post_init__(self) -> None:
        if self.type_exact_match not in ("prefix", "suffix", "full"):
            raise ValueError(f"type_exact_match is prefix, suffix or full, not {self.type_exact_match!r}")

    def compute(self, doc: Doc, model_response: ModelResponse, **kwargs: Any) -> Any:
        golds, replies = doc.get_golds(), model_response.final_text
        return self.aggregation_function([self.compute_one_item(gold, reply) for gold in golds for reply in replies])

    def compute_one_item(self, gold: str, pred: str) -> int:
        if not pred:
            return 0
        if self.strip_strings:
            gold, pred = gold.strip(), pred.strip()
        gold = self.normalize_gold(gold) if self.normalize_gold else gold
        pred = self.normalize_pred(pred) if self.normalize_pred else pred
        return int(matches(gold, pred, self.type_exact_match))


def matches(gold: str, reply: str, kind: str) -> bool:
    """`kind`: prefix, suffix or full."""
    return reply.startswith(gold) if kind == "prefix" else reply.endswith(gold) if kind == "suffix" else reply == gold


@dataclass
class F1_score(SampleLevelComputation):
    """F1 of the sets of words."""

    aggregation_function: Callable[[list[Any]], Any] | None = max
    normalize_gold: Normalizer = None
    normalize_pred: Normalizer = None
    strip_strings: bool = False

    def compute(self, doc: Doc, model_response: ModelResponse, **kwargs: Any) -> Any:
        golds, replies = doc.get_golds(), model_response.final_text
        scores = [self.compute_one_item(gold, reply) for gold in golds for reply in replies]
        return (self.aggregation_function or max)(scores)

    def compute_one_item(self, gold: str, pred: str) -> float:
        gold = self.normalize_gold(gold) if self.normalize_gold else gold
        pred = self.normalize_pred(pred) if self.normalize_pred else pred
        right, said = set(gold.split()), set(pred.split())
        common = len(right & said)
        return 2 * common / (len(right) + len(said)) if common else 0.0


@dataclass
class ROUGE(SampleLevelComputation):
    """F-measures of rouge-score; several methods give a mapping."""

    methods: Any
    multiple_golds: bool = False
    bootstrap: bool = False
    """T5's scale: 100 times the mean, a reply to each gold in turn."""
    normalize_gold: Normalizer = None
    normalize_pred: Normalizer = None
    aggregation_function: Callable[[list[float]], Any] | None = None
    tokenizer: Any = None
    needs: ClassVar[tuple[str, ...]] = ("rouge_score",)

    def compute(self, doc: Doc, model_response: ModelResponse, **kwargs: Any) -> Any:
        scorer = needed("rouge_score.rouge_scorer").RougeScorer(as_list(self.methods), tokenizer=self.tokenizer)
        golds = [self.normalize_gold(text) if self.normalize_gold else text for text in doc.get_golds()]
        replies = [self.normalize_pred(text) if self.normalize_pred else text for text in model_response.final_text]
        scored = self._scored(scorer, golds, replies)
        combine = self.aggregation_function or np.mean
        scale = 100 if self.bootstrap else 1
        values = {
            name: float(combine([one[name].fmeasure for one in scored])) * scale for name in as_list(self.methods)
        }
        return values if len(values) > 1 else next(iter(values.values()))

    def _scored(self, scorer: Any, golds: Sequence[str], replies: Sequence[str]) -> list[Any]:
        if self.bootstrap:
            return [scorer.score(gold, reply) for gold, reply in zip(golds, replies, strict=False)]
        if self.multiple_golds:
            return [scorer.score_multi(golds, reply) for reply in replies]
        return [scorer.score(gold, reply) for reply in replies for gold in golds]


@dataclass
class BLEU(SampleLevelComputation):
    """NLTK's sentence BLEU of one order of n-grams, averaged over replies."""

    n_gram: int
    needs: ClassVar[tuple[str, ...]] = ("nltk",)

    def compute(self, doc: Doc, model_response: ModelResponse, **kwargs: Any) -> float:
        # NLTK's word tokenizer proper wants a download; this one, without its split into sentences, wants none.
        words = needed("nltk.tokenize.destructive").NLTKWordTokenizer().tokenize
        golds = [words(gold) for gold in doc.get_golds()]
        return float(np.mean([self._score(golds, words(reply)) for reply in model_response.final_text]))

    def _score(self, golds: list[list[str]], reply: list[str]) -> float:
        """Clipped share of the reply's n-grams that a gold has, with the usual penalty for brevity."""
        grams = ngrams(reply, self.n_gram)
        if not grams:
            return 0.0
        best: Counter[tuple[str, ...]] = Counter()
        for gold in golds:
            best |= ngrams(gold, self.n_gram)
        nearest = min((len(gold) for gold in golds), key=lambda length: (abs(length - len(reply)), length))
        brevity = 1.0 if len(reply) > nearest else float(np.exp(1 - nearest / len(reply)))
        return brevity * (grams & best).total() / grams.total()


def ngrams(words: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[place : place + order]) for place in range(len(words) - order + 1))


@dataclass
class StringDistance(SampleLevelComputation):
    """How much of the text that goes on after the prompt a reply copies, in words."""

    metric_types: Any
    strip_prediction: bool = True
    needs: ClassVar[tuple[str, ...]] = ("nltk",)

    def compute(self, doc: Doc, model_response: ModelResponse, **kwargs: Any) -> dict[str, float]:
        best: dict[str, Callable[..., float]] = {"edit_distance": min}
        compared = [self._compared(doc.get_golds()[0], reply) for reply in model_response.final_text]
        return {
            name: float(best.get(name, max)(scores[name] for scores in compared)) for name in as_list(self.metric_types)
        }

    def _compared(self, gold: str, reply: str) -> dict[str, float]:
        words = needed("nltk.tokenize.treebank").TreebankWordTokenizer().tokenize
        reply = reply.strip() if self.strip_prediction else reply
        said, right = words(reply), words(gold[: len(reply)])
        distance = edit_distance(said, right)
        pairs = [one == other for one, other in zip(said, right, strict=False)]
        return {
            "longest_common_prefix_length": pairs.index(False) if False in pairs else len(pairs),
            "edit_distance": distance,
            "edit_similarity": 1 - distance / max(len(said), len(right)) if said and right else 0.0,
        }


def edit_distance(first: Sequence[str], second: Sequence[str]) -> int:
    """Insertions, deletions and replacements from one to the other."""
    row = list(range(len(second) + 1))
    for number, one in enumerate(first, start=1):
        before, row[0] = row[0], number
        for place, other in enumerate(second, start=1):
            before, row[place] = row[place], min(row[place] + 1, row[place - 1] + 1, before + (one != other))
    return row[-1]
