from __future__ import annotations

import datetime
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from hydra_eval.data.facts import DataFacts, SplitFacts, fingerprint


def facts(*, whole: bool = True, **changes: Any) -> DataFacts:
    given: dict[str, Any] = {"documents": 10, "duplicates": None, "evaluated": 10, **changes}
    return DataFacts(
        source="local",
        path="json",
        name=None,
        revision=None,
        commit=None,
        trust_remote_code=False,
        splits=(SplitFacts(split="test", read=10, kept=10, dropped=0, whole=whole),),
        pool=(),
        shuffle_seed=None,
        chosen_by=None,
        subset=None,
        fingerprint="",
        **given,
    )


@pytest.mark.parametrize(
    ("changes", "partial"),
    [
        ({}, False),
        ({"evaluated": 9}, True),
        ({"evaluated": 8, "duplicates": 2}, False),
        ({"evaluated": 7, "duplicates": 2}, True),
        ({"whole": False}, True),
    ],
    ids=["all", "limited", "distinct", "distinct and limited", "cut stream"],
)
def test_a_run_is_partial_where_documents_are_left_out(changes: dict[str, Any], partial: bool) -> None:
    assert facts(**changes).is_partial is partial


@dataclass
class Record:
    tags: set[str]


class Opaque:
    """Its representation is another in each process."""


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ([{"a": 1, "b": 2}], [{"b": 2, "a": 1}], True),
        ([{"a": 1}, {"a": 2}], [{"a": 2}, {"a": 1}], False),
        ([{"a": 1}], [{"a": "1"}], False),
        ([{"a": Opaque()}], [{"a": Opaque()}], True),
        ([{"a": b"one"}], [{"a": b"two"}], False),
        ([{"a": Record({"x"})}], [{"a": Record({"y"})}], False),
        ([{"a": {1: 2, "1": 3}}], [{"a": {"1": 3, 1: 2}}], True),
        ([{"a": {(1, 2): 3}}], [{"a": {(1, 2): 4}}], False),
        ([{"a": np.zeros(2)}], [{"a": np.ones(2)}], False),
        ([{"a": datetime.date(2020, 1, 1)}], [{"a": datetime.date(2020, 1, 2)}], False),
        ([{"a": "\ud800"}], [{"a": "\ud801"}], False),
    ],
    ids=[
        "columns",
        "order",
        "type",
        "object",
        "bytes",
        "records",
        "mixed keys",
        "odd keys",
        "arrays",
        "dates",
        "surrogates",
    ],
)
def test_a_fingerprint_tells_rows_apart(one: Any, other: Any, same: bool) -> None:
    assert (fingerprint(one) == fingerprint(other)) is same


def test_a_fingerprint_is_the_same_in_every_process() -> None:
    code = "from hydra_eval.data.facts import fingerprint; print(fingerprint([{'a': {'x', 'y', 'z'}, 'b': object()}]))"
    command = [sys.executable, "-c", code]
    found = {
        subprocess.run(command, env={"PYTHONHASHSEED": seed}, capture_output=True, check=True).stdout for seed in "123"
    }
    assert len(found) == 1
