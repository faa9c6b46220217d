"""`lighteval.metrics.metrics_corpus`: one number over all documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np

from hydra_eval.stats.aggregations import bits_per_byte, perplexity, weighted_perplexity
from hydra_eval.tables.lighteval.docs import as_list
from hydra_eval.tables.lighteval.metric_types import CorpusLevelComputation
from hydra_eval.tables.optional import needed


class MatthewsCorrCoef(CorpusLevelComputation):
    """Matthews' correlation of right and chosen classes."""

    def compute_corpus(self, items: list[Any]) -> float:
        golds, said = classes(items)
        return float(needed("sklearn.metrics").matthews_corrcoef(golds, said))


@dataclass
class CorpusLevelF1Score(CorpusLevelComputation):
    """F1 over classes. `average`: weighted, macro, micro, or None for the best class's.

    More than two `num_classes`: the mean over classes of each against the rest.
    """

    average: str | None
    num_classes: int = 2

    def __post_init__(self) -> None:
        if self.average not in ("weighted", "macro", "micro", None):
            raise ValueError(f"average is weighted, macro, micro or None, not {self.average!r}")

    def compute_corpus(self, items: list[Any]) -> float:
        f1_score = needed("sklearn.metrics").f1_score
        golds, said = classes(items)
        if self.num_classes == 2:
            return float(np.max(f1_score(golds, said, average=self.average, zero_division=0.0)))
        scores = [
            f1_score([gold == label for gold in golds], [pick == label for pick in said], average=self.average)
            for label in range(self.num_classes)
        ]
        return float(np.mean(scores))


def classes(items: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """One right and one chosen class per document: of several right ones the chosen, else the first."""
    golds, said = [], []
    for item in items:
        right, picked = as_list(item.golds), as_list(item.preds)[0]
        right, picked = ([_stripped(one) for one in right], _stripped(picked))
        golds.append(picked if picked in right else right[0])
        said.append(picked)
    return golds, said


def _stripped(label: Any) -> Any:
    return label.strip() if isinstance(label, str) else label


@dataclass
class CorpusLevelTranslationMetric(CorpusLevelComputation):
    """sacrebleu's bleu, chrf, chrf++ or ter of first replies, with all right answers as references."""

    metric_type: str
    lang: str = ""
    """zh, ja or ko: how bleu cuts words, and ter with Asian signs."""

    def compute_corpus(self, items: list[Any]) -> float:
        replies = [as_list(item.preds)[0] for item in items]
        # sacrebleu wants one list per reference, each over all documents; None where a document has fewer.
        references = [list(column) for column in zip_longest(*(as_list(item.golds) for item in items))]
        return float(self._scorer().corpus_score(replies, references).score)

    def _scorer(self) -> Any:
        sacrebleu = needed("sacrebleu")
        makers = {
            "bleu": lambda: sacrebleu.BLEU(trg_lang=self.lang),
            "chrf": lambda: sacrebleu.CHRF(),
            "chrf++": lambda: sacrebleu.CHRF(word_order=2),
            "ter": lambda: sacrebleu.TER(asian_support=bool(self.lang)),
        }
        if self.metric_type not in makers:
            raise ValueError(f"metric_type is one of {', '.join(makers)}, not {self.metric_type!r}")
        return makers[self.metric_type]()


@dataclass
class CorpusLevelPerplexityMetric(CorpusLevelComputation):
    """perplexity (per document), weighted_perplexity (per unit) or bits_per_byte."""

    metric_type: str

    def __post_init__(self) -> None:
        if self.metric_type not in ("perplexity", "weighted_perplexity", "bits_per_byte"):
            raise ValueError(f"metric_type is perplexity, weighted_perplexity or bits_per_byte: {self.metric_type!r}")

    def compute_corpus(self, items: list[Any]) -> float:
        if self.metric_type == "perplexity":
            return perplexity([item.logprobs for item in items])
        combine = weighted_perplexity if self.metric_type == "weighted_perplexity" else bits_per_byte
        return combine([(item.logprobs, item.weights) for item in items])
