from __future__ import annotations

from typing import Any

import pytest

from hydra_eval.metrics.base import GenerationOutcome
from hydra_eval.metrics.text import bypass, exact_match, gold_and_prediction


def outcome(prediction: Any, gold: Any, *, multiple_target: bool = False) -> GenerationOutcome:
    return GenerationOutcome(prediction=prediction, gold=gold, multiple_target=multiple_target)


@pytest.mark.parametrize(
    ("prediction", "gold", "options", "expected"),
    [
        pytest.param("42", "42", {}, 1.0, id="equal"),
        pytest.param("42 ", "42", {}, 0.0, id="blanks_count"),
        pytest.param("Yes", "yes", {}, 0.0, id="case_counts"),
        pytest.param("Yes", "yes", {"ignore_case": True}, 1.0, id="ignore_case"),
        pytest.param("yes.", "yes", {"ignore_case": True}, 0.0, id="punctuation_counts"),
        pytest.param("y-es.", "(yes)", {"ignore_punctuation": True}, 1.0, id="ignore_punctuation"),
        pytest.param("yes。", "yes", {"ignore_punctuation": True}, 0.0, id="only_ascii_punctuation"),
        pytest.param("room 12", "room 7", {"ignore_numbers": True}, 1.0, id="ignore_numbers"),
        pytest.param("$1,000", "1000", {"regexes_to_ignore": [",", r"\$"]}, 1.0, id="regexes"),
        pytest.param("x#### 3.", "3", {"regexes_to_ignore": [r"\.$", r"(?s).*#### "]}, 1.0, id="regexes_in_order"),
        pytest.param("a.b", "ab", {"regexes_to_ignore": r"\."}, 1.0, id="one_regex_without_a_list"),
        pytest.param("The cat", "cat", {"regexes_to_ignore": ["The "], "ignore_case": True}, 1.0, id="regex_then_case"),
        pytest.param("the cat", "cat", {"regexes_to_ignore": ["The "], "ignore_case": True}, 0.0, id="not_case_first"),
        pytest.param(["a", "b", "a", "c"], "a", {}, 0.5, id="share_of_a_list"),
        pytest.param(2, 2, {}, 1.0, id="numbers"),
    ],
)
def test_exact_match(prediction: Any, gold: Any, options: dict[str, Any], expected: float) -> None:
    assert exact_match(outcome(prediction, gold), **options) == expected


@pytest.mark.parametrize(
    ("gold", "options", "expected"),
    [
        pytest.param(["Ada", "Alan"], {}, 1.0, id="any_target"),
        pytest.param(["Ada", "alan"], {}, 0.0, id="none"),
        pytest.param(["Ada", "alan"], {"ignore_case": True}, 1.0, id="options_hold_for_each"),
        pytest.param("Alan", {}, 1.0, id="one_without_a_list"),
        pytest.param([], {"ignore_case": True}, 0.0, id="no_target"),
    ],
)
def test_exact_match_with_several_targets(gold: Any, options: dict[str, Any], expected: float) -> None:
    assert exact_match(outcome("Alan", gold, multiple_target=True), **options) == expected


def test_pass_through() -> None:
    assert gold_and_prediction(outcome("a", "b")) == ["b", "a"]
    assert gold_and_prediction(outcome("a", ["b", "c"], multiple_target=True)) == [["b", "c"], "a"]
    assert bypass(outcome("a", "b")) is None
