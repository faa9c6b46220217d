from __future__ import annotations

import math
from typing import Any

import pytest

from hydra_eval.errors import UserError
from hydra_eval.metrics import AGGREGATIONS

NAN = math.nan


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        pytest.param("mean", [1, 0, 0, 1, 1], 0.6, id="mean"),
        pytest.param("nanmean", [1.0, NAN, 0.0], 0.5, id="nanmean"),
        pytest.param("median", [4, 1, 3], 3, id="median"),
        pytest.param("median", [4, 1, 3, 2], 3, id="median_takes_the_upper_middle"),
        pytest.param("perplexity", [-math.log(2), -math.log(8)], 4.0, id="perplexity"),
        pytest.param("perplexity", [-1e6], math.inf, id="perplexity_beyond_floats"),
        pytest.param("weighted_perplexity", [(-10 * math.log(3), 2), (0.0, 8)], 3.0, id="weighted_perplexity"),
        pytest.param("weighted_perplexity", [(-1e6, 1)], math.inf, id="weighted_perplexity_beyond_floats"),
        pytest.param("bits_per_byte", [(-24 * math.log(2), 7), (0.0, 1)], 3.0, id="bits_per_byte"),
        # Two hits, one false alarm, one miss: 2·2 / (2·2 + 1 + 1).
        pytest.param("f1", [(1, 1), (1, 1), (0, 1), (1, 0), (0, 0)], 2 / 3, id="f1"),
        pytest.param("f1", [(0, 0), (0, 0)], 0.0, id="f1_without_positives"),
        pytest.param("matthews_corrcoef", [(1, 1), (0, 0)], 1.0, id="mcc_right"),
        pytest.param("matthews_corrcoef", [(1, 0), (0, 1)], -1.0, id="mcc_wrong"),
        pytest.param("matthews_corrcoef", [(1, 1), (0, 1)], 0.0, id="mcc_one_answer"),
        # Two of three classes right, each class once: (2·3 − 3) / 6.
        pytest.param(
            "matthews_corrcoef", [("a", "a"), ("b", "b"), ("c", "b")], 3 / math.sqrt(6 * 4), id="mcc_of_three"
        ),
        pytest.param("brier_score", [(0, (1.0, 0.0)), (1, (0.5, 0.5))], 0.25, id="brier"),
        pytest.param("brier_score", [(0, (0.5, 0.5)), (2, (0.0, 0.5, 0.5))], 0.5, id="brier_of_unlike_documents"),
        pytest.param("brier_score", [(-100, (0.5, 0.5))], 1.5, id="brier_of_a_gold_outside"),
        pytest.param("gold_loglikelihood", [(0, (-1.0, -5.0)), (1, (-5.0, -2.0))], -1.5, id="gold_loglikelihood"),
        pytest.param(
            "gold_loglikelihood", [([0, 1], (math.log(0.25), math.log(0.25)))], math.log(0.5), id="several_golds"
        ),
        pytest.param("gold_loglikelihood", [([0, -100], (-1.0, -5.0))], -1.0, id="one_gold_outside"),
        # Classes 0, 1, 2 have F1 2/3, 2/3 and 0, recall 1, 1/2 and 0.
        pytest.param("f1_macro", [(0, 0), (1, 1), (1, 2), (2, 0)], 4 / 9, id="f1_macro"),
        pytest.param("f1_micro", [(0, 0), (1, 1), (1, 2), (2, 0)], 1 / 2, id="f1_micro"),
        pytest.param("f1_weighted", [(0, 0), (1, 1), (1, 2), (2, 0)], 1 / 2, id="f1_weighted"),
        pytest.param("f1_max", [("a", "a"), ("b", "b"), ("b", "c"), ("c", "a")], 2 / 3, id="f1_max"),
        pytest.param("balanced_acc", [(0, 0), (1, 1), (1, 2), (2, 0)], 1 / 2, id="balanced_acc"),
        pytest.param("acc_all", [(True, "p"), (True, "q"), (False, "p")], 1 / 2, id="acc_all"),
        pytest.param("bypass", [None, None], 999, id="bypass"),
    ],
)
def test_value(name: str, values: list[Any], expected: float) -> None:
    assert AGGREGATIONS[name].combine(values) == pytest.approx(expected, rel=1e-12)


def test_nanmean_of_nothing_known() -> None:
    assert math.isnan(AGGREGATIONS["nanmean"].combine([NAN, NAN]))


@pytest.mark.parametrize(
    "values",
    [[(0, 0), (1, 2), (2, 1)], [("yes", "no"), ("no", "no")], [(-100, 0), (1, 1)]],
    ids=["3", "text", "outside"],
)
def test_f1_is_for_two_classes(values: list[Any]) -> None:
    with pytest.raises(UserError, match="aggregation 'f1' is for the classes 0 and 1"):
        AGGREGATIONS["f1"].combine(values)


def test_a_document_without_a_right_choice_has_no_likelihood() -> None:
    with pytest.raises(UserError, match="right answer is not among its choices"):
        AGGREGATIONS["gold_loglikelihood"].combine([(0, (-1.0,)), (-100, (-1.0,))])


def test_names_in_the_table_are_their_own() -> None:
    assert all(name == aggregation.name for name, aggregation in AGGREGATIONS.items())
