"""`lighteval.metrics.sample_preparator`: what corpus metrics keep of each document. All are tuples, so that rows hold
them as they are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hydra_eval.tables.lighteval.answers import ModelResponse
from hydra_eval.tables.lighteval.docs import Doc, as_list
from hydra_eval.tables.lighteval.metric_types import Preparator


class GenerativeCorpusMetricInput(NamedTuple):
    """Right answers and replies, as texts."""

    golds: list[str]
    preds: list[str]


class LogprobCorpusMetricInput(NamedTuple):
    """Index of the right choice, or of several, and of the likeliest."""

    golds: Any
    preds: int


class PerplexityCorpusMetricInput(NamedTuple):
    """A log-likelihood in nats, and the words or bytes it is spread over."""

    logprobs: float
    weights: int


class GenerativePreparator(Preparator):
    """All right answers, all replies."""

    def prepare(self, doc: Doc, model_response: ModelResponse, **kwargs: Any) -> GenerativeCorpusMetricInput:
        return GenerativeCorpusMetricInput(doc.get_golds(), list(model_response.final_text))


@dataclass
class LoglikelihoodPreparator(Preparator):
    """The right choice and the likeliest; `is_single_token` keeps the first right one alone."""

    is_single_token: bool = False

    def prepare(self, doc: Doc, model_response: ModelResponse, **kwargs: Any) -> LogprobCorpusMetricInput:
        golds = as_list(doc.gold_index)
        pick = int(np.argmax(model_response.logprobs))
        return LogprobCorpusMetricInput(golds[0] if self.is_single_token else golds, pick)


@dataclass
class TargetPerplexityPreparator(Preparator):
    """The likelihood of the choices' texts, over the units of the right ones."""

    units_type: str

    def prepare(self, doc: Doc, model_response: ModelResponse, **kwargs: Any) -> PerplexityCorpusMetricInput:
        return PerplexityCorpusMetricInput(
            float(np.sum(model_response.logprobs)), count_units(" ".join(doc.get_golds()), self.units_type)
        )


@dataclass
class PerplexityPreparator(Preparator):
    """The likelihood of the query, over the units of the text it was made from."""

    units_type: str

    def prepare(self, doc: Doc, model_response: ModelResponse, **kwargs: Any) -> PerplexityCorpusMetricInput:
        text = doc.query if doc.original_query is None else doc.original_query
        return PerplexityCorpusMetricInput(float(np.sum(model_response.logprobs)), count_units(text, self.units_type))


def count_units(text: str, units: str) -> int:
    """`units`: words or bytes. A blank at either end counts as one word more, as in both harnesses."""
    if units not in ("words", "bytes"):
        raise ValueError(f"units_type is words or bytes, not {units!r}")
    return len(re.split(r"\s+", text)) if units == "words" else len(text.encode())
