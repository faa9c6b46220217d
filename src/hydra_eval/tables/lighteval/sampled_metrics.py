"""Scores over several replies to one prompt: avg@n, maj@n, pass@k, g-pass@k."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hydra_eval.errors import lookup
from hydra_eval.tables.lighteval import normalizations
from hydra_eval.tables.lighteval.answers import ModelResponse
from hydra_eval.tables.lighteval.docs import Doc, as_list
from hydra_eval.tables.lighteval.metric_types import SampleLevelComputation
from hydra_eval.tables.lighteval.text_metrics import matches

NORMALIZERS = {
    function.__name__: function
    for function in (
        normalizations.helm_normalizer,
        normalizations.harness_triviaqa_normalizer,
        normalizations.bigbench_normalizer,
        normalizations.remove_braces,
        normalizations.remove_braces_and_strip,
        normalizations.math_normalizer,
        normalizations.gsm8k_normalizer,
    )
}
"""What `normalize` may name."""


@dataclass(kw_only=True)
class SamplingMetric:
    """Each reply is normalised and scored by itself: by equality, or by `sample_scoring_function`."""

    normalize: Callable[[str], str] | str | None = None
    """A function, or the name of one of `NORMALIZERS`."""
    strip_strings: bool = False
    sample_scoring_function: Any = None
    """prefix, suffix, full, `(doc, response) -> number`, or an object with `compute`."""
    normalize_gold: Callable[[str], str] | None = None
    normalize_pred: Callable[[str], str] | None = None

    def preprocess(self, text: str, side: str = "") -> str:
        """Stripped, then through `normalize`, then through the one for its `side`, gold or pred."""
        text = text.strip() if self.strip_strings else text
        for given in (self.normalize, getattr(self, f"normalize_{side}", None)):
            function = (
                lookup(NORMALIZERS, given, kind="normalizer", where="normalize") if isinstance(given, str) else given
            )
            text = function(text) if function is not None and text else text
        return text

    def compute_score(self, doc: Doc, model_response: ModelResponse) -> Any:
        """The score of a response of one reply."""
        scorer = self.sample_scoring_function
        if callable(scorer):
            return scorer(doc, model_response)
        if hasattr(scorer, "compute"):
            return scorer.compute(doc, model_response)
        return int(matches(doc.get_golds()[0], model_response.final_text[0], scorer or "full"))

    def scores(self, doc: Doc, replies: Sequence[str]) -> list[Any]:
        """One score per reply. Several right answers are a ValueError."""
        if len(doc.get_golds()) > 1:
            raise ValueError(f"{type(self).__name__} is for one right answer, but this document has several")
        clean = replace(doc, choices=[self.preprocess(choice, "gold") for choice in doc.choices])
        return [self.compute_score(clean, ModelResponse(text=[self.preprocess(text, "pred")])) for text in replies]


@dataclass
class AvgAtN(SamplingMetric, SampleLevelComputation):
    """The mean score of n replies."""

    n: int | None = None
    attribute_must_be_set = ("n",)

    def compute(self, doc: Doc, model_response: ModelResponse, **kwargs: Any) -> float:
        scores = self.scores(doc, model_response.final_text[: self.n])
        return float(sum(scores) / len(scores))

    def num_samples(self) -> int | None:
        return self.n


@dataclass
class MajAtN(SamplingMetric, SampleLevelComputation):
    """The score of the most frequent of n replies; of equally frequent ones, of the one that came first."""

    n: int | None = None
    attribute_must_be_set = ("n",)

    def compute(self, doc: Doc, model_response: ModelResponse, **kwargs: Any) -> Any:
        replies = [self.preprocess(text, "pred") for text in model_response.final_text[: self.n]]
        winner = replies.index(max(replies, key=replies.count))
        return self.scores(doc, [model_response.final_text[winner]])[0]

    def num_samples(self) -> int | None:
        return self.n


@dataclass
class PassAtK(SamplingMetric, SampleLevelComputation):
    """The chance that one of k replies is right, estimated without bias from n (arXiv 2107.03374)."""

    k: int | None = None
    n: int | None = None
    attribute_must_be_set = ("k",)

    def compute(self, doc: Doc, model_response: ModelResponse, **kwargs: Any) -> float:
        scores = self.scores(doc, model_response.final_text[: self.num_samples()])
        return self.pass_at_k(scores)

    def pass_at_k(self, all_scores: Sequence[Any]) -> float:
        assert self.k is not None, "checked when the task is built"
        wrong = len(all_scores) - list(all_scores).count(1)
        return 1.0 - math.comb(wrong, self.k) / math.comb(len(all_scores), self.k)

    def num_samples(self) -> int | None:
        return self.n or self.k


@dataclass
class GPassAtK(SamplingMetric, SampleLevelComputation):
    """The chance that at least a share of k replies is right, for each k and threshold (arXiv 2412.13147)."""

    k: Any = None
    """One number or several."""
    n: int | None = None
    thresholds: Sequence[float] = (0.0, 0.25, 0.5, 0.75, 1.0)
    name_prefix: str | None = None
    attribute_must_be_set = ("k",)

    @property
    def name(self) -> str:
        return f"{self.name_prefix}_g-pass@" if self.name_prefix else "g-pass@"

    @property
    def metric_names(self) -> list[str]:
        """`g-pass@K_THRESHOLD` for each, and `mg-pass@K`, their mean from one half on."""
        ks = [] if self.k is None else as_list(self.k)
        of_k = [[*(f"{self.name}{k}_{share}" for share in self.thresholds), f"m{self.name}{k}"] for k in ks]
        return [name for names in of_k for name in names]

    def compute(self, doc: Doc, model_response: ModelResponse, **kwargs: Any) -> dict[str, float]:
        scores = self.scores(doc, model_response.final_text[: self.num_samples()])
        return self.g_pass_at_k(scores)

    def g_pass_at_k(self, all_scores: Sequence[Any]) -> dict[str, float]:
        total, right = len(all_scores), int(sum(all_scores))
        values: dict[str, float] = {}
        for k in as_list(self.k):
            for share in self.thresholds:
                values[f"{self.name}{k}_{share}"] = at_least(max(math.ceil(k * share), 1), total, right, k)
            above_half = range(math.ceil(k / 2) + 1, k + 1)
            values[f"m{self.name}{k}"] = 2 * sum(at_least(least, total, right, k) for least in above_half) / k
        return values

    def num_samples(self) -> int | None:
        return self.n or (None if self.k is None else max(as_list(self.k)))


def at_least(least: int, total: int, right: int, drawn: int) -> float:
    """The chance of `least` or more right ones among `drawn` of `total`, `right` of which are right."""
    if drawn > total:
        return 0.0
    ways = sum(math.comb(right, hits) * math.comb(total - right, drawn - hits) for hits in range(least, drawn + 1))
    return ways / math.comb(total, drawn)
