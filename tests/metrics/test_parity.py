"""Each metric beside lm-eval's `process_results`, on the same outcomes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hydra_eval.metrics import AGGREGATIONS, DEFAULT_METRICS, METRICS, SAMPLED
from hydra_eval.metrics.base import ChoiceOutcome, GenerationOutcome, LikelihoodOutcome
from hydra_eval.metrics.build import build_metrics

pytest.importorskip("lm_eval", reason="needs the parity extra: lm_eval")

from lm_eval.api import registry
from lm_eval.api.task import ConfigurableTask

pytestmark = pytest.mark.parity


class LoadedTask(ConfigurableTask):
    """lm-eval's task as it stands after loading, without a data set behind it."""

    def __init__(self, output_type: str, metrics: list[dict[str, Any]], **fields: Any) -> None:
        self.OUTPUT_TYPE = output_type
        self._config = SimpleNamespace(process_results=None, doc_to_choice=fields.get("choices"))
        self.multiple_input = 0
        self.multiple_target = int(fields.get("multiple_target", False))
        self.fields = fields
        self._metric_fn_list, self._metric_fn_kwargs, self._aggregation_list, self._higher_is_better = {}, {}, {}, {}
        for entry in metrics:
            options = dict(entry)
            metric = options.pop("metric")
            name = metric.__name__ if callable(metric) else metric
            self._metric_fn_list[name] = metric if callable(metric) else registry.get_metric(metric)
            self._metric_fn_kwargs[name] = options

    def doc_to_choice(self, doc: Any, doc_to_choice: Any = None) -> Any:
        return self.fields["choices"]

    def doc_to_target(self, doc: Any, doc_to_target: Any = None) -> Any:
        return self.fields["target"]


def ours(output_type: str, metrics: list[dict[str, Any]], outcome: Any) -> dict[str, Any]:
    bound = build_metrics(metrics, output_type=output_type, has_process_results=False, where="test")
    scores: dict[str, Any] = {}
    for metric in bound:
        assert metric.score is not None
        score = metric.score(outcome)
        scores.update(score if isinstance(score, dict) else {metric.name: score})
    return scores


LOGPROBS = st.lists(
    st.tuples(
        st.sampled_from([-0.0, -0.5, -1.0, -2.0, -2.5, -7.0]), st.booleans(), st.sampled_from(["a", "bb", "é", "€uro"])
    ),
    min_size=2,
    max_size=5,
)


@settings(max_examples=300, deadline=None)
@given(choices=LOGPROBS, gold=st.integers(0, 6), several=st.booleans())
def test_multiple_choice(choices: list[tuple[float, bool, str]], gold: int, several: bool) -> None:
    logprobs, is_greedy, texts = zip(*choices, strict=True)
    names = ["acc", "acc_norm", "acc_bytes", "exact_match", "f1", "mcc", "brier_score", "likelihood"]
    metrics = [{"metric": name} for name in names]
    target: Any = [0, gold] if several else gold
    task = LoadedTask("multiple_choice", metrics, choices=list(texts), target=target, multiple_target=several)
    expected = task.process_results({}, list(zip(logprobs, is_greedy, strict=True)))
    inside = gold if gold < len(texts) else -100
    scores = ours(
        "multiple_choice",
        metrics,
        ChoiceOutcome(choices=texts, gold=[0, inside] if several else inside, logprobs=logprobs, is_greedy=is_greedy),
    )
    assert scores.pop("brier_score")[1] == pytest.approx(list(expected.pop("brier_score")[1]), rel=1e-12)
    assert scores == expected


@settings(max_examples=100, deadline=None)
@given(choices=LOGPROBS, gold=st.integers(0, 4), unconditional=st.lists(st.floats(-9, 0), min_size=5, max_size=5))
def test_mutual_information(choices: list[tuple[float, bool, str]], gold: int, unconditional: list[float]) -> None:
    logprobs, is_greedy, texts = zip(*choices, strict=True)
    without = unconditional[: len(texts)]
    metrics = [{"metric": "acc_mutual_info"}, {"metric": "acc"}]
    task = LoadedTask("multiple_choice", metrics, choices=list(texts), target=gold)
    requests = [*zip(logprobs, is_greedy, strict=True), *((logprob, False) for logprob in without)]
    outcome = ChoiceOutcome(
        choices=texts,
        gold=gold if gold < len(texts) else -100,
        logprobs=logprobs,
        is_greedy=is_greedy,
        unconditional=without,
    )
    assert ours("multiple_choice", metrics, outcome) == task.process_results({}, requests)


@pytest.mark.parametrize("is_greedy", [True, False])
def test_loglikelihood(is_greedy: bool) -> None:
    metrics = [{"metric": "perplexity"}, {"metric": "acc"}]
    expected = LoadedTask("loglikelihood", metrics).process_results({}, [(-2.5, is_greedy)])
    assert ours("loglikelihood", metrics, LikelihoodOutcome(text="x", logprob=-2.5, is_greedy=is_greedy)) == expected


@settings(max_examples=100, deadline=None)
@given(text=st.text(max_size=20))
def test_rolling(text: str) -> None:
    metrics = [{"metric": name} for name in DEFAULT_METRICS["loglikelihood_rolling"]]
    expected = LoadedTask("loglikelihood_rolling", metrics, target=text).process_results({}, [-3.5])
    assert ours("loglikelihood_rolling", metrics, LikelihoodOutcome(text=text, logprob=-3.5)) == expected


# A small alphabet, so that texts meet; with letters that change length in lower case, and a NUL.
TEXTS = st.text(alphabet="aAİıß1.,$ \n\0", max_size=5)
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "ignore_case": st.booleans(),
        "ignore_punctuation": st.sampled_from([True, False, "true - '.'"]),
        "ignore_numbers": st.booleans(),
        "regexes_to_ignore": st.sampled_from([["a"], [",", r"\$", r"\.$"], [r"^\s+", r"\s+$"], [r"(?s).*1"]]),
    },
)


@settings(max_examples=500, deadline=None)
@given(prediction=TEXTS, gold=TEXTS, options=OPTIONS)
def test_exact_match(prediction: str, gold: str, options: dict[str, Any]) -> None:
    metrics = [{"metric": "exact_match", **options}]
    expected = LoadedTask("generate_until", metrics, target=gold).process_results({}, [prediction])
    assert ours("generate_until", metrics, GenerationOutcome(prediction=prediction, gold=gold)) == expected


@settings(max_examples=300, deadline=None)
@given(prediction=TEXTS, golds=st.lists(TEXTS, min_size=1, max_size=3), options=OPTIONS)
def test_exact_match_with_several_targets(prediction: str, golds: list[str], options: dict[str, Any]) -> None:
    metrics = [{"metric": "exact_match", **options}]
    task = LoadedTask("generate_until", metrics, target=golds, multiple_target=True)
    outcome = GenerationOutcome(prediction=prediction, gold=golds, multiple_target=True)
    assert ours("generate_until", metrics, outcome) == task.process_results({}, [prediction])


@settings(max_examples=50, deadline=None)
@given(predictions=st.lists(TEXTS, min_size=1, max_size=4), gold=TEXTS)
def test_exact_match_of_a_list_of_replies(predictions: list[str], gold: str) -> None:
    metrics = [{"metric": "exact_match"}]
    expected = LoadedTask("generate_until", metrics, target=gold).process_results({}, [predictions])
    assert ours("generate_until", metrics, GenerationOutcome(prediction=predictions, gold=gold)) == expected


def shared(references: list[str], predictions: list[str], **kwargs: Any) -> float:
    return len(set(references[0]) & set(predictions[0])) / 4


def passed(items: list[str]) -> list[str]:
    return items


def two(references: list[str], predictions: list[str], k: int) -> dict[str, float]:
    return {f"at@{k}": float(predictions[0] in references), "size": float(len(predictions[0]))}


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param({"metric": shared, "aggregation": "mean"}, id="keywords"),
        pytest.param({"metric": shared, "ignore_case": True}, id="keywords_and_option"),
        pytest.param({"metric": passed}, id="one_list"),
        pytest.param({"metric": passed, "ignore_case": True}, id="one_list_and_option"),
        pytest.param({"metric": two, "k": 3}, id="mapping"),
        pytest.param({"metric": "f1", "aggregation": max}, id="f1"),
        pytest.param({"metric": "bleu"}, id="bleu"),
        pytest.param({"metric": "chrf"}, id="chrf"),
        pytest.param({"metric": "chrf++"}, id="chrf++"),
        pytest.param({"metric": "ter"}, id="ter"),
        pytest.param({"metric": "acc", "aggregation": max, "ignore_case": True}, id="acc"),
    ],
)
def test_pass_through_and_own_metrics(entry: dict[str, Any]) -> None:
    their_entry = {key: value for key, value in entry.items() if key != "aggregation"}
    expected = LoadedTask("generate_until", [their_entry], target="abcd").process_results({}, ["bcx"])
    assert ours("generate_until", [entry], GenerationOutcome(prediction="bcx", gold="abcd")) == expected


def starts(references: list[str], predictions: list[str]) -> float:
    return float(predictions[0].startswith(references[0]))


@pytest.mark.parametrize("golds", [["zz", "bc"], ["zz"]], ids=["one_right", "none_right"])
def test_own_metric_with_several_targets(golds: list[str]) -> None:
    """Of 0 and 1. Any other number lm-eval turns into 1.0; here the best one stays as it is."""
    task = LoadedTask("generate_until", [{"metric": starts}], target=golds, multiple_target=True)
    outcome = GenerationOutcome(prediction="bcx", gold=golds, multiple_target=True)
    assert ours("generate_until", [{"metric": starts}], outcome) == task.process_results({}, ["bcx"])


@pytest.mark.parametrize("output_type", sorted(METRICS))
def test_defaults_and_directions(output_type: str) -> None:
    assert list(DEFAULT_METRICS[output_type]) == registry.DEFAULT_METRIC_REGISTRY[output_type]
    for name, metric in METRICS[output_type].items():
        if name not in registry.METRIC_REGISTRY:
            assert metric.score in SAMPLED
            continue
        assert metric.higher_is_better == registry.is_higher_better(name)
        # lm-eval takes the mean of what likelihood and acc_all hand on, pairs, which fails.
        if name not in ("likelihood", "acc_all"):
            assert registry.get_aggregation(metric.aggregation) is registry.get_metric_aggregation(name)


def test_lm_eval_has_no_metric_and_no_aggregation_that_is_missing_here() -> None:
    assert set(registry.METRIC_REGISTRY) <= {name for metrics in METRICS.values() for name in metrics}
    assert set(registry.AGGREGATION_REGISTRY) <= set(AGGREGATIONS)
