"""The comparison of scores sees what it should."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from .replies import Scored, differences, made_up, same

SCORED = Scored(
    docs={(0, "none"): {"acc": 1.0}},
    filtered={(0, "none"): [(-1.5, True)]},
    totals={"acc,none": 0.5, "acc_stderr,none": "N/A"},
)


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        pytest.param({"docs": {(0, "none"): {"acc": 0.0}}}, "document 0, filter none, scores", id="score"),
        pytest.param({"docs": {(0, "none"): {"acc": 1.0, "f1": 0}}}, "document 0, filter none, scores", id="one more"),
        pytest.param({"filtered": {}}, "document 0, filter none, filtered replies", id="filtered"),
        pytest.param({"totals": SCORED.totals | {"acc,none": 0.51}}, "acc,none", id="total"),
        pytest.param({"totals": SCORED.totals | {"acc_stderr,none": 0.0}}, "acc_stderr,none", id="error"),
    ],
)
def test_sees(changes: dict[str, Any], where: str) -> None:
    (found,) = differences(SCORED, replace(SCORED, **changes))
    assert found.startswith(f"{where}: ")


def test_sees_nothing_where_all_is_equal() -> None:
    assert list(differences(SCORED, replace(SCORED, filtered={(0, "none"): ((-1.5, True),)}))) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(np.float64(0.5), 0.5, id="numpy"),
        pytest.param((1, np.array([0.25, 0.75])), [1, (0.25, 0.75)], id="nested"),
        pytest.param(math.nan, math.nan, id="not a number"),
        pytest.param(1.0, 1.0 + 1e-12, id="last bits"),
        pytest.param({"a": {1, 2}}, {"a": [1, 2]}, id="set"),
    ],
)
def test_same(one: Any, other: Any) -> None:
    assert same(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(1.0, 1.0 + 1e-6, id="number"),
        pytest.param([1], [1, 2], id="length"),
        pytest.param({"a": 1}, {"b": 1}, id="key"),
        pytest.param("N/A", None, id="no error"),
        pytest.param(math.nan, 0.0, id="not a number"),
    ],
)
def test_not_same(one: Any, other: Any) -> None:
    assert not same(one, other)


def test_replies_depend_on_their_place_alone_and_hold_right_answers() -> None:
    replies = [made_up((doc, 0, 0), "generate_until", ["Lima"]) for doc in range(200)]
    assert replies == [made_up((doc, 0, 0), "generate_until", ["Lima"]) for doc in range(200)]
    assert 60 < sum("Lima" in reply for reply in replies) < 180
    assert made_up((0, 1, 0), "multiple_choice", []) != made_up((0, 2, 0), "multiple_choice", [])
