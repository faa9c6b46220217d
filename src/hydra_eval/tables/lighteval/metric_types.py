"""`lighteval.metrics.utils.metric_utils`: a score per document, and how a corpus of them becomes one number."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hydra_eval.errors import UserError, did_you_mean
from hydra_eval.tables.lighteval.docs import Doc, SamplingMethod


class SampleLevelComputation:
    """The score of one document; people subclass it with a `compute` of their own."""

    def compute(self, doc: Doc, model_response: Any, **kwargs: Any) -> Any:
        raise NotImplementedError


class CorpusLevelComputation:
    """One number over the values of all documents; people subclass it with a `compute_corpus` of their own."""

    def compute_corpus(self, items: list[Any]) -> Any:
        raise NotImplementedError


class Preparator:
    """What a corpus metric keeps of one document; people subclass it with a `prepare` of their own."""

    def prepare(self, doc: Doc, model_response: Any, **kwargs: Any) -> Any:
        raise NotImplementedError


@dataclass(eq=False)
class Metric:
    """A named score with its aggregation. Calling it sets options, which become part of its name."""

    metric_name: Any
    higher_is_better: Any
    category: SamplingMethod
    sample_level_fn: Any
    corpus_level_fn: Any
    batched_compute: bool = False

    def __call__(self, sample_params: Mapping[str, Any] | None = None) -> Metric:
        set_options(self.sample_level_fn, sample_params or {}, where=f"metric '{self.metric_name}'")
        self.metric_name = renamed(self.metric_name, sample_params or {}, self.sample_level_fn)
        return self

    def compute_sample(self, **kwargs: Any) -> dict[str, Any]:
        """Name → value for one document."""
        function = self.sample_level_fn
        value = (function.prepare if isinstance(function, Preparator) else function.compute)(**kwargs)
        return dict(value) if isinstance(self, MetricGrouping) else {self.metric_name: value}

    def get_corpus_aggregations(self) -> dict[str, Callable[..., Any]]:
        """Name → what combines its values."""
        names = self.metric_name if isinstance(self.metric_name, list) else [self.metric_name]
        given = self.corpus_level_fn
        table: Mapping[str, Any] = given if isinstance(given, Mapping) else dict.fromkeys(names, given)
        return {name: getattr(function, "compute_corpus", function) for name, function in table.items()}


@dataclass(eq=False)
class MetricGrouping(Metric):
    """Several scores of one computation: a list of names, and mappings by name."""


@dataclass(eq=False)
class CorpusLevelMetric(Metric):
    """Scored over the whole corpus at once."""


@dataclass(eq=False)
class SampleLevelMetric(Metric):
    """Scored per document, then averaged."""


@dataclass(eq=False)
class CorpusLevelMetricGrouping(MetricGrouping):
    """Several at once, over the whole corpus."""


@dataclass(eq=False)
class SampleLevelMetricGrouping(MetricGrouping):
    """Several at once, per document."""


def set_options(function: Any, options: Mapping[str, Any], *, where: str) -> None:
    """Set attributes that the scoring object already has. Raises UserError for any other."""
    known = [name for name in vars(function) if not name.startswith("_")]
    for name, value in options.items():
        if not hasattr(function, name):
            raise UserError(
                f"{where}: {type(function).__name__} has no parameter '{name}'.{did_you_mean(name, known)} "
                f"It has: {', '.join(known) or 'none'}."
            )
        setattr(function, name, value)


def renamed(name: Any, options: Mapping[str, Any], function: Any) -> Any:
    """`pass@k` with `{k: 4, n: 16}` becomes `pass@k:k=4&n=16`; a list of names is renamed one by one."""
    if (own := getattr(function, "metric_names", None)) is not None:
        return list(own)
    if isinstance(name, list):
        return [renamed(one, options, function) for one in name]
    base, _, before = str(name).partition(":")
    pairs = dict(pair.partition("=")[::2] for pair in before.split("&") if pair)
    pairs |= {key: shown(value) for key, value in options.items()}
    return f"{base}:{'&'.join(f'{key}={value}' for key, value in pairs.items())}" if pairs else base


def shown(value: Any) -> str:
    """An option in a metric's name: a function by its name, never by its place in memory."""
    return re.sub(r"<(?:function|class|bound method) '?([\w.<>]+)'?[^>]*>", r"\1", str(value))
