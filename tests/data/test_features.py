from __future__ import annotations

from typing import Any

import pytest

from hydra_eval.data.features import features_of
from hydra_eval.errors import UserError


@pytest.mark.parametrize(
    "columns",
    [
        {"n": {"dtype": "int64"}, "words": {"dtype": "string", "sequence": True}},
        {"n": "int64", "words": {"_type": "List", "feature": {"_type": "Value", "dtype": "string"}}},
    ],
    ids=["short", "spelt out"],
)
def test_both_spellings_give_the_same_types(columns: dict[str, Any]) -> None:
    from datasets import Features, List, Value

    assert features_of(columns, where="t.yaml") == Features({"n": Value("int64"), "words": List(Value("string"))})


def test_a_column_of_columns() -> None:
    from datasets import Features, Value

    found = features_of({"answer": {"text": {"dtype": "string"}}}, where="t.yaml")
    assert found == Features({"answer": {"text": Value("string")}})


@pytest.mark.parametrize("columns", [{"n": 3}, {"n": {"dtype": "int65"}}, {"n": {"_type": "Valu"}}], ids=str)
def test_types_that_are_none(columns: dict[str, Any]) -> None:
    with pytest.raises(UserError, match=r"^t.yaml: features: not understood"):
        features_of(columns, where="t.yaml: features")
