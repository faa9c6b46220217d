"""Aggregations and standard errors beside lm-eval's own."""

from __future__ import annotations

import math
import random
import warnings
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hydra_eval.metrics import AGGREGATIONS
from hydra_eval.stats.stderr import CORPUS_METRICS, stderr

pytest.importorskip("lm_eval", reason="needs the parity extra: lm_eval")

from lm_eval.api import metrics as lm_eval_metrics
from lm_eval.api.metrics import stderr_for_metric
from lm_eval.api.registry import get_aggregation

pytestmark = pytest.mark.parity

NUMBERS = st.floats(-20, 20)
LABELS = st.tuples(st.integers(0, 1), st.integers(0, 1))
VALUES = {
    "mean": st.floats(allow_nan=False, allow_infinity=False, width=32),
    "nanmean": st.sampled_from([0.0, 1.0, 2.5, math.nan]),
    "median": NUMBERS,
    "perplexity": NUMBERS,
    "weighted_perplexity": st.tuples(NUMBERS, st.integers(1, 9)),
    "bits_per_byte": st.tuples(NUMBERS, st.integers(1, 9)),
    "f1": LABELS,
    "matthews_corrcoef": st.tuples(st.integers(0, 3), st.integers(0, 3)),
    "brier_score": st.tuples(st.integers(0, 1), st.tuples(NUMBERS, NUMBERS)),
    "bypass": NUMBERS,
}
WORDS = st.lists(st.sampled_from(["a", "dog", "dog.", "Dog", "it's", "naïve", "東京"]), min_size=1, max_size=6).map(
    " ".join
)
VALUES |= dict.fromkeys(("bleu", "chrf", "chrf++", "ter"), st.tuples(WORDS, WORDS))


@pytest.mark.parametrize("name", sorted(VALUES))
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_aggregation(name: str, data: st.DataObject) -> None:
    values = data.draw(st.lists(VALUES[name], min_size=1, max_size=12))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = get_aggregation(name)(values)
    assert AGGREGATIONS[name].combine(values) == pytest.approx(expected, rel=1e-12, nan_ok=True)


_numbers = random.Random(3)
BOOTSTRAPPED: dict[str, list[Any]] = {
    "perplexity": [-_numbers.expovariate(0.3) for _ in range(40)],
    "median": [_numbers.random() for _ in range(41)],
    "nanmean": [_numbers.choice([math.nan, 0.0, 1.0]) for _ in range(40)],
    "f1": [(_numbers.randrange(2), _numbers.randrange(2)) for _ in range(25)],
    "matthews_corrcoef": [(_numbers.randrange(3), _numbers.randrange(3)) for _ in range(25)],
}
_phrases = ["a dog barked", "the dog barks", "no dogs here, none", "rain fell on the old roof", "it rained"]
_pairs = [(_numbers.choice(_phrases), _numbers.choice(_phrases)) for _ in range(20)]
BOOTSTRAPPED |= dict.fromkeys(CORPUS_METRICS, _pairs)


@pytest.mark.parametrize("name", ["bleu", "chrf", "chrf++", "ter"])
@settings(max_examples=30, deadline=None)
@given(
    values=st.lists(
        st.tuples(st.lists(WORDS, min_size=1, max_size=3), st.lists(WORDS, min_size=1, max_size=1)), min_size=1
    )
)
def test_lists_of_references(name: str, values: list[Any]) -> None:
    assert AGGREGATIONS[name].combine(values) == get_aggregation(name)(values)


MULTIRC = [
    (_numbers.random() < 0.8, {"label": 1, "idx": {"paragraph": number // 9, "question": number // 3}})
    for number in range(30)
]
"""(prediction, document) as lm-eval's `acc_all` takes them."""


def test_all_answers_of_a_question() -> None:
    assert AGGREGATIONS["acc_all"].combine(MULTIRC) == lm_eval_metrics.acc_all(MULTIRC)
    expected = stderr_for_metric(lm_eval_metrics.acc_all, 1)(MULTIRC)
    assert stderr(AGGREGATIONS["acc_all"], "acc_all", MULTIRC, bootstrap=0) == expected


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "resamples"),
    [("perplexity", 10_500), ("median", 2000), ("nanmean", 1000), ("f1", 120), ("matthews_corrcoef", 120)]
    + [(name, 100_000) for name in ("bleu", "chrf", "chrf++", "ter")],
)
def test_bootstrap(name: str, resamples: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISABLE_MULTIPROC", "1")
    values = BOOTSTRAPPED[name]
    drawn = min(resamples, 100) if name in CORPUS_METRICS else resamples  # lm-eval's cap, in its evaluator
    expected = stderr_for_metric(get_aggregation(name), drawn)(values)
    assert stderr(AGGREGATIONS[name], name, values, bootstrap=resamples) == pytest.approx(expected, rel=1e-9)


@settings(max_examples=100, deadline=None)
@given(values=st.lists(st.sampled_from([0, 1, 0.25, True]), min_size=2, max_size=30))
def test_error_of_a_mean_is_equal_to_the_last_digit(values: list[float]) -> None:
    assert stderr(AGGREGATIONS["mean"], "acc", values, bootstrap=0) == stderr_for_metric(get_aggregation("mean"), 1)(
        values
    )


@pytest.mark.parametrize("name", sorted(VALUES))
def test_the_same_aggregations_have_an_error(name: str) -> None:
    assert (AGGREGATIONS[name].stderr == "none") == (stderr_for_metric(get_aggregation(name), 10) is None)
