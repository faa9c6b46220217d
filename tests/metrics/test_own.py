from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hydra_eval.errors import UserError
from hydra_eval.metrics.base import GenerationOutcome
from hydra_eval.metrics.own import own_metric


def starts(references: list[str], predictions: list[str]) -> float:
    return float(predictions[0].startswith(references[0]))


def length(references: list[str], predictions: list[str], scale: float = 1.0) -> float:
    return scale * len(predictions[0])


def named(**kwargs: Any) -> list[str]:
    return sorted(kwargs)


def pair(items: list[Any]) -> tuple[Any, ...]:
    return tuple(items)


def both(references: list[str], predictions: list[str]) -> dict[str, float]:
    return {
        "first": float(predictions[0][0] == references[0][0]),
        "last": float(predictions[0][-1] == references[0][-1]),
    }


def three(gold: str, prediction: str, extra: str) -> float:
    return 0.0


def score(function: Callable[..., Any], options: dict[str, Any] | None = None, **fields: Any) -> Any:
    outcome = GenerationOutcome(**({"prediction": "abc", "gold": "ab"} | fields))
    return own_metric(function, options or {}, where="f: metric 'm'")(outcome)


@pytest.mark.parametrize(
    ("function", "options", "expected"),
    [
        pytest.param(starts, {}, 1.0, id="keywords"),
        pytest.param(length, {"scale": 2.0}, 6.0, id="keywords_and_option"),
        pytest.param(named, {"k": [1]}, ["k", "predictions", "references"], id="any_keyword"),
        pytest.param(pair, {}, ("ab", "abc"), id="one_list"),
        pytest.param(both, {}, {"first": 1.0, "last": 0.0}, id="mapping"),
    ],
)
def test_the_signature_decides_how_it_is_called(function: Any, options: dict[str, Any], expected: Any) -> None:
    assert score(function, options) == expected


def test_a_type_error_inside_the_function_is_not_taken_for_another_signature() -> None:
    def broken(references: list[Any], predictions: list[Any]) -> Any:
        return references[0] + 1

    with pytest.raises(TypeError, match="concatenate"):
        score(broken)


def shared(references: list[str], predictions: list[str]) -> float:
    return len(set(references[0]) & set(predictions[0])) / 4


@pytest.mark.parametrize(
    ("function", "gold", "expected"),
    [
        pytest.param(starts, ["x", "ab"], 1.0, id="one_right"),
        pytest.param(starts, ["x", "y"], 0.0, id="none_right"),
        pytest.param(starts, "ab", 1.0, id="no_list"),
        pytest.param(starts, [], 0.0, id="no_gold"),
        pytest.param(shared, ["axyz", "abyz", "xxxx"], 0.5, id="the_best_share"),
        pytest.param(both, ["aX", "bX"], {"first": 1.0, "last": 0.0}, id="mapping"),
        pytest.param(pair, ["x", "ab"], (["x", "ab"], "abc"), id="no_number"),
    ],
)
def test_several_targets(function: Any, gold: Any, expected: Any) -> None:
    assert score(function, gold=gold, multiple_target=True) == expected


def test_of_several_targets_the_least_counts_where_lower_is_better() -> None:
    outcome = GenerationOutcome(prediction="abc", gold=["axyz", "abyz"], multiple_target=True)
    assert own_metric(shared, {}, where="f", best=min)(outcome) == 0.25


def test_a_signature_that_fits_neither_way() -> None:
    with pytest.raises(UserError, match=r"f: metric 'm': its function takes .*extra.*neither"):
        score(three)
