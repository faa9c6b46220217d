from __future__ import annotations

import math
import statistics
from typing import Any

import pytest

from hydra_eval.metrics import AGGREGATIONS
from hydra_eval.metrics.base import Aggregation
from hydra_eval.stats.stderr import stderr


def error(name: str, values: list[Any], *, bootstrap: int = 1000, metric: str = "any") -> float | None:
    return stderr(AGGREGATIONS[name], metric, values, bootstrap=bootstrap)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        pytest.param([1, 0], 0.5, id="two"),
        pytest.param([1.0] * 5, 0.0, id="all_equal"),
        pytest.param([2.0, 4.0, 4.0, 6.0], math.sqrt(8 / 3 / 4), id="four"),
    ],
)
def test_mean(values: list[float], expected: float) -> None:
    assert error("mean", values) == pytest.approx(expected, rel=1e-15)


def test_the_error_of_a_mean_needs_no_resamples() -> None:
    assert error("mean", [1, 0], bootstrap=0) == 0.5


@pytest.mark.parametrize("name", sorted(AGGREGATIONS))
def test_one_value_has_no_error(name: str) -> None:
    assert error(name, [(1, 1)]) is None


@pytest.mark.parametrize(
    "name", ["weighted_perplexity", "bits_per_byte", "brier_score", "gold_loglikelihood", "bypass"]
)
def test_no_rule_no_error(name: str) -> None:
    assert error(name, [(1, 1), (2, 2)]) is None


def test_the_error_over_groups_counts_groups() -> None:
    values = [(True, "p"), (True, "p"), (False, "q"), (True, "q"), (True, "r")]
    assert error("acc_all", values) == error("mean", [1, 0, 1])


def test_one_group_has_no_error() -> None:
    assert error("acc_all", [(True, "p"), (False, "p")]) is None


def test_own_aggregation_has_no_error() -> None:
    assert stderr(Aggregation("perplexity", max), "any", [1, 2, 3], bootstrap=1000) is None


@pytest.mark.parametrize("name", ["median", "perplexity", "nanmean"])
def test_no_resamples_no_bootstrap(name: str) -> None:
    assert error(name, [-1.0, -2.0, -3.0], bootstrap=0) is None


def test_bootstrap_is_near_the_closed_form() -> None:
    values = [float(number % 7) for number in range(200)]
    assert error("nanmean", values) == pytest.approx(statistics.stdev(values) / math.sqrt(200), rel=0.1)


@pytest.mark.parametrize("metric", ["bleu", "chrf", "chrf++", "ter"])
def test_corpus_metrics_are_resampled_100_times_at_most(metric: str) -> None:
    values = [-1.0, -2.0, -4.0]
    assert error("perplexity", values, metric=metric) == error("perplexity", values, bootstrap=100)
    assert error("perplexity", values, metric=metric) != error("perplexity", values)


def test_a_remainder_of_1000_is_not_drawn() -> None:
    assert error("median", [1, 2, 5, 9], bootstrap=1999) == error("median", [1, 2, 5, 9], bootstrap=1000)
