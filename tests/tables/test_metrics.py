"""How the values of a corpus become one number, and metrics of a task file's own."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from hydra_eval.results.aggregate import TaskResult, aggregate
from hydra_eval.tables.aggregations import kept_value
from hydra_eval.tables.lighteval.corpus_metrics import CorpusLevelTranslationMetric
from hydra_eval.tables.lighteval.metrics import Metrics
from hydra_eval.tables.lighteval.preparators import (
    GenerativeCorpusMetricInput,
    LogprobCorpusMetricInput,
    PerplexityCorpusMetricInput,
)
from hydra_eval.tables.metrics import table_metrics

from .files import entry, table_task, write_table
from .test_build import answered

ONE_RIGHT = [
    GenerativeCorpusMetricInput(["the red cat sat down"], ["the red cat sat down"]),
    GenerativeCorpusMetricInput(["he went home early"], ["nobody knows why it rains"]),
    GenerativeCorpusMetricInput(["blue is a colour"], ["seven times eight"]),
]
"""A corpus that is not told by its first document."""
TEXTS = [GenerativeCorpusMetricInput([" a"], ["a"]), GenerativeCorpusMetricInput(["b"], ["a"])]
LIKELIHOODS = [PerplexityCorpusMetricInput(-4.0, 2), PerplexityCorpusMetricInput(-2.0, 1)]
PICKED = [LogprobCorpusMetricInput([gold], pick) for gold, pick in ((0, 0), (1, 1), (1, 0), (0, 0))]


@pytest.mark.parametrize("kind", ["bleu", "chrf", "chrf++", "ter"])
def test_translations_are_scored_over_all_documents(kind: str) -> None:
    metric = CorpusLevelTranslationMetric(kind)
    whole, first = metric.compute_corpus(ONE_RIGHT), metric.compute_corpus(ONE_RIGHT[:1])
    assert first == pytest.approx(0 if kind == "ter" else 100)
    assert abs(whole - first) > 10


def test_several_references() -> None:
    items = [GenerativeCorpusMetricInput(["x y z w", "the red cat sat"], ["the red cat sat"]), ONE_RIGHT[0]]
    assert CorpusLevelTranslationMetric("bleu").compute_corpus(items) == pytest.approx(100)


@pytest.mark.parametrize(
    ("name", "items", "value"),
    [
        ("loglikelihood_f1", PICKED, 0.8),
        ("mcc", PICKED, 1 / math.sqrt(3)),
        ("multi_f1_numeric", [LogprobCorpusMetricInput(gold, pick) for gold, pick in ((0, 0), (1, 2))], 2 / 3),
        (
            "f1_score_micro",
            [GenerativeCorpusMetricInput([" a"], ["a"]), GenerativeCorpusMetricInput(["b"], ["a"])],
            0.5,
        ),
        (
            "f1_score_macro",
            [GenerativeCorpusMetricInput([" a"], ["a"]), GenerativeCorpusMetricInput(["b"], ["a"])],
            1 / 3,
        ),
        ("word_perplexity", LIKELIHOODS, math.exp(2)),
        ("bits_per_byte", [PerplexityCorpusMetricInput(-math.log(2), 1)], 1.0),
        (
            "target_perplexity",
            [PerplexityCorpusMetricInput(-4.0, 2), PerplexityCorpusMetricInput(-2.0, 1)],
            math.exp(3),
        ),
    ],
)
def test_corpus_metrics(name: str, items: list[Any], value: float) -> None:
    (metric,) = table_metrics([Metrics[name].value], {}, where="here")
    kept = [kept_value(metric.metric, item) for item in items]
    assert metric.bound[0].aggregation.combine(kept) == pytest.approx(value)


@pytest.mark.parametrize(
    ("name", "higher"),
    [("prediction_perplexity", False), ("ter", False), ("bleu", True), ("exact_match", True)],
)
def test_directions(name: str, higher: bool) -> None:
    (metric,) = table_metrics([Metrics[name].value], {}, where="here")
    assert metric.bound[0].higher_is_better is higher


@pytest.mark.parametrize("name", ["drop", "copyright"])
def test_what_lighteval_reduces_to_the_best_document_is_averaged(name: str) -> None:
    (metric,) = table_metrics([Metrics[name].value], {}, where="here")
    assert {bound.aggregation.name for bound in metric.bound} == {"mean"}


def test_metrics_of_one_name_get_names_of_their_own() -> None:
    metrics = table_metrics([Metrics.f1_score.value, Metrics.f1_score_macro.value], {}, where="here")
    assert [bound.name for metric in metrics for bound in metric.bound] == ["f1", "f1_2"]


def test_a_function_in_a_metrics_name_is_shown_by_its_name() -> None:
    from hydra_eval.tables.lighteval.normalizations import helm_normalizer

    metric = Metrics.exact_match(sample_params={"normalize_pred": helm_normalizer})
    assert metric.metric_name == "em:normalize_pred=helm_normalizer"


OWN = """
class Letters(SampleLevelComputation):
    def compute(self, doc, model_response, **kwargs):
        return len(model_response.final_text[0])

class Both(SampleLevelComputation):
    def compute(self, doc, model_response):
        return {"short": 1, "long": len(doc.query), "note": "x"}

class Batched(SampleLevelComputation):
    def compute(self, responses, docs, **kwargs):
        return [{"batched": len(docs)}]

class Distinct(CorpusLevelComputation):
    def compute_corpus(self, items):
        return len({item.golds[0] for item in items})

def plain(predictions, golds, **kwargs):
    return float(predictions[0] in golds)

TEXT = SamplingMethod.GENERATIVE
letters = SampleLevelMetric("letters", False, TEXT, Letters(), lambda values: max(values))
names, better = ["short", "long"], {"short": True, "long": False}
both = SampleLevelMetricGrouping(names, better, TEXT, Both(), {"short": sum, "long": min})
batched = SampleLevelMetricGrouping(["batched"], True, TEXT, Batched(), {"batched": max}, batched_compute=True)
distinct = CorpusLevelMetric("distinct", True, TEXT, GenerativePreparator(), Distinct())
older = SampleLevelMetric("older", True, TEXT, plain, sum)
"""


def result_of(folder: Path, metrics: str) -> TaskResult:
    path = write_table(folder, entry(metrics=metrics), body=OWN)
    task = table_task(path)
    return aggregate(task, answered(task, text=" yes"), bootstrap=0)


@pytest.mark.parametrize(
    ("metrics", "values"),
    [
        ("letters", {"letters": (4, False)}),
        ("both", {"short": (6, True), "long": (9, False)}),
        ("batched", {"batched": (1, True)}),
        ("distinct", {"distinct": (3, True)}),
        ("older", {"older": (2.0, True)}),
        ("Metrics.exact_match, letters", {"em": (2 / 6, True), "letters": (4, False)}),
    ],
)
def test_metrics_of_a_files_own(tmp_path: Path, metrics: str, values: dict[str, tuple[float, bool]]) -> None:
    found = result_of(tmp_path, metrics).metrics
    assert {one.metric: (one.value, one.higher_is_better) for one in found} == values
