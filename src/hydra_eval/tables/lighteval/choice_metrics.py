"""Scores from the log-likelihoods of a document's choices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hydra_eval.tables.lighteval.answers import ModelResponse
from hydra_eval.tables.lighteval.docs import Doc, as_list
from hydra_eval.tables.lighteval.metric_types import SampleLevelComputation
from hydra_eval.tables.lighteval.normalizations import normalize_log_probs


@dataclass
class LoglikelihoodAcc(SampleLevelComputation):
    """The likeliest choice is right; of equal ones the first counts."""

    logprob_normalization: Any = None

    def compute(self, doc: Doc, model_response: ModelResponse, **kwargs: Any) -> int:
        values = per_choice(self.logprob_normalization, doc, model_response)
        return int(int(np.argmax(values)) in as_list(doc.gold_index))


@dataclass
class NormalizedMultiChoiceProbability(SampleLevelComputation):
    """The right choice's share of the probability of all choices; of several right ones the largest."""

    log_prob_normalization: Any = None
    aggregation_function: Callable[[Any], Any] = np.max

    def compute(self, doc: Doc, model_response: ModelResponse, **kwargs: Any) -> float:
        values = np.array(per_choice(self.log_prob_normalization, doc, model_response))
        shares = np.exp(values - np.logaddexp.reduce(values))
        return float(self.aggregation_function(shares[as_list(doc.gold_index)]))


@dataclass
class Probability(SampleLevelComputation):
    """The probability of the choices, the right ones alone where there are others."""

    log_prob_normalization: Any = None
    aggregation_function: Callable[[Any], Any] = np.max

    def compute(self, doc: Doc, model_response: ModelResponse, **kwargs: Any) -> float:
        values = np.array(per_choice(self.log_prob_normalization, doc, model_response))
        return float(self.aggregation_function(np.exp(values[as_list(doc.gold_index)])))


@dataclass
class Recall(SampleLevelComputation):
    """A right choice is among the k likeliest."""

    k: int = 1

    def compute(self, doc: Doc, model_response: ModelResponse, **kwargs: Any) -> int:
        ranked = np.argsort(-np.array(model_response.logprobs), kind="stable")[: self.k].tolist()
        return int(any(index in as_list(doc.gold_index) for index in ranked))


@dataclass
class MRR(SampleLevelComputation):
    """One over the rank of the best-placed right choice."""

    length_normalization: bool = False

    def compute(self, doc: Doc, model_response: ModelResponse, **kwargs: Any) -> float:
        values = list(model_response.logprobs)
        if self.length_normalization:
            values = [value / len(choice) for value, choice in zip(values, doc.choices, strict=True)]
        ranked = sorted(values, reverse=True)
        return 1.0 / (1 + min(ranked.index(values[gold]) for gold in as_list(doc.gold_index)))


class AccGoldLikelihood(SampleLevelComputation):
    """Greedy decoding gives a right choice."""

    def compute(self, doc: Doc, model_response: ModelResponse, **kwargs: Any) -> int:
        return int(any(model_response.argmax_logits_eq_gold[gold] for gold in as_list(doc.gold_index)))


class TruthfulqaMCMetrics(SampleLevelComputation):
    """mc1: the one right answer, which stands first, is the likeliest of its set. mc2: the right answers' share.

    The choices are the mc1 set and then the mc2 set; `specific["len_mc1"]` tells where one ends. Right answers of mc2
    are those that `gold_index` lists, also where they do not stand together (lighteval takes the first run alone).
    """

    def compute(self, doc: Doc, model_response: ModelResponse, **kwargs: Any) -> dict[str, float]:
        split = (doc.specific or {})["len_mc1"]
        first, second = model_response.logprobs[:split], np.array(model_response.logprobs[split:])
        golds = [gold - split for gold in as_list(doc.gold_index) if gold >= split]
        shares = np.exp(second - np.logaddexp.reduce(second))
        return {"truthfulqa_mc1": float(np.argmax(first) == 0), "truthfulqa_mc2": float(shares[golds].sum())}


def per_choice(normalization: Any, doc: Doc, response: ModelResponse) -> Sequence[float]:
    """The choices' log-likelihoods after the normalisation, if any."""
    count = len(doc.choices)
    if normalization is None:
        return response.logprobs[:count]
    return normalize_log_probs(
        normalization,
        response.logprobs[:count],
        response.logprobs[count : 2 * count],
        doc.choices,
        response.output_tokens[:count],
    )
