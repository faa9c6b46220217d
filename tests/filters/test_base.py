from __future__ import annotations

from typing import Any

import pytest

from hydra_eval.filters.base import LEAVES_LIST, Pipeline
from hydra_eval.filters.build import build_pipelines


def pipeline(*steps: Any) -> Pipeline:
    return build_pipelines({"p": list(steps)}, where="t")[0]


def reverse(resps: list[Any], docs: list[Any]) -> list[Any]:
    return [entry[::-1] for entry in resps]


@pytest.mark.parametrize(
    ("steps", "kept", "outputs"),
    [
        pytest.param(["lowercase", "take_first"], [["a", "b"]], ["a"], id="chooses_at_the_end"),
        pytest.param(["take_first", "lowercase"], ["a"], ["a"], id="chooses_before"),
        pytest.param(["lowercase", "take_last"], ["b"], ["b"], id="another_choice"),
        pytest.param(["lowercase"], [["a", "b"]], [["a", "b"]], id="never_chooses"),
        pytest.param([], [["A", "B"]], [["A", "B"]], id="no_steps"),
    ],
)
def test_what_is_kept_before_the_choice(steps: list[str], kept: list[Any], outputs: list[Any]) -> None:
    found = pipeline(*steps)
    assert found.keep([["A", "B"]], [{}]) == kept
    assert found.choose(kept, [{}]) == found([["A", "B"]], [{}]) == outputs


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (["take_first"], False),
        (["take_last", "lowercase"], False),
        (["lowercase"], True),
        ([], True),
        (["take_first", "all"], True),
        (["majority_vote"], True),
        (["majority_vote", "take_first"], False),
        ([{"function": "take_first_k", "k": 1}], True),
    ],
    ids=["first", "last", "none", "empty", "all", "vote", "vote_and_first", "first_k"],
)
def test_what_leaves_a_list(steps: list[Any], expected: bool) -> None:
    found = pipeline(*steps)
    assert found.leaves_list is expected
    assert isinstance(found([["a"]], [{}])[0], list) is expected


def test_the_filters_that_choose_are_filters() -> None:
    assert all(pipeline({"function": name, "k": 1} if name.endswith("_k") else name) for name in LEAVES_LIST)


@pytest.mark.parametrize(
    ("steps", "expected"),
    [(["lowercase", "take_first"], True), ([{"function": "custom", "filter_fn": reverse}, "take_first"], False)],
    ids=["ours", "own"],
)
def test_which_pipelines_are_ours(steps: list[Any], expected: bool) -> None:
    assert pipeline(*steps).is_ours is expected
