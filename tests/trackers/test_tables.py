from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from hydra_eval.records import SampleRow
from hydra_eval.trackers.tables import sample_table

from .rows import choice_row, generation_row


def lines(rows: Sequence[SampleRow]) -> list[dict[str, Any]]:
    columns, data = sample_table(rows)
    return [dict(zip(columns, cells, strict=True)) for cells in data]


def test_two_filters_share_the_line_of_their_document() -> None:
    rows = [
        generation_row(doc, filter=name, filtered_resps=(f"{name} {doc}",), scores={"exact_match": score})
        for name, score in (("strict", 0.0), ("flexible", 1.0))
        for doc in (7, 8)
    ]
    table = lines(rows)
    assert [line["doc_id"] for line in table] == [7, 8]
    assert table[1]["output[strict]"] == "strict 8"
    assert table[1]["output[flexible]"] == "flexible 8"
    assert (table[1]["exact_match[strict]"], table[1]["exact_match[flexible]"]) == (0.0, 1.0)


def test_generation_reads_as_plain_text() -> None:
    assert lines([generation_row(0)]) == [
        {
            "doc_id": 0,
            "prompt": "Q: Capital 0?\nA:",
            "requests": '[{"until": ["\\n"], "max_gen_toks": 8}]',
            "resps": " Paris",
            "target": "Paris",
            "output[none]": "Paris",
            "exact_match[none]": 1.0,
            "shots": "[3, 1]",
            "shots_requested": 3,
            "shots_used": 2,
            "input_tokens": 12,
            "output_tokens": 2,
            "cut_tokens": 0,
            "finish_reasons": '["stop"]',
        }
    ]


def test_reasoning_has_a_column_of_its_own_where_there_is_any() -> None:
    reasoned = generation_row(0, reasoning=("so</think>",))
    several = generation_row(1, reasoning=("a</think>", None))
    assert [line["reasoning"] for line in lines([reasoned, several, generation_row(2)])] == [
        "so</think>",
        '["a</think>", null]',
        None,
    ]
    assert list(lines([reasoned])[0])[3:6] == ["resps", "reasoning", "target"]


def test_choices_are_json_lists_in_request_order() -> None:
    (line,) = lines([choice_row(5)])
    assert line["prompt"] == "Colour 5?"
    assert json.loads(line["requests"]) == [" red", " blue", " green"]
    assert json.loads(line["resps"]) == [[[-1.5, False]], [[-2.25, False]], [[-0.5, True]]]
    assert json.loads(line["output[none]"])[2] == [-0.5, True]
    assert (line["target"], line["input_tokens"]) == ("2", 12)


def test_requests_with_contexts_of_their_own_show_them_all() -> None:
    (line,) = lines([choice_row(0, arguments=(("Ann is", " here"), ("Bob is", " here")))])
    assert line["prompt"] == "Ann is"
    assert json.loads(line["requests"]) == [["Ann is", " here"], ["Bob is", " here"]]


def test_rolling_text_is_the_prompt() -> None:
    (line,) = lines([generation_row(0, arguments=(("A whole text.",),), resps=((-12.5,),), filtered_resps=(-12.5,))])
    assert (line["prompt"], line["resps"], line["output[none]"]) == ("A whole text.", "-12.5", "-12.5")


MIXED = {
    "gold-int-and-str": [choice_row(0), choice_row(1, target="blue")],
    "null": [generation_row(0), generation_row(1, target=None, filtered_resps=(None,), scores={"exact_match": None})],
    "list": [generation_row(0), generation_row(1, target=["Paris", "Lutetia"], filtered_resps=(["a", "b"],))],
    "dict": [generation_row(0, target={"a": 1}), generation_row(1, target={"b": "x"})],
    "bool-and-int": [generation_row(0, scores={"exact_match": True}), generation_row(1, scores={"exact_match": 0})],
    "number-and-tuple": [generation_row(0, scores={"f1": 0.5}), generation_row(1, scores={"f1": (1, 2.5)})],
    "number-and-text": [generation_row(0, scores={"f1": 0.5}), generation_row(1, scores={"f1": "none found"})],
    "array-scalars": [generation_row(0, scores={"f1": np.float32(0.5)}), generation_row(1, scores={"f1": np.bool_(1)})],
    "not-a-number": [generation_row(0, scores={"f1": math.nan}), generation_row(1, scores={"f1": math.inf})],
    "no-arguments": [generation_row(0, arguments=(), resps=(), input_tokens=()), generation_row(1)],
    "missing-filter": [generation_row(0, filter="a"), generation_row(1, filter="b")],
    "missing-metric": [generation_row(0, scores={"a": 1}), generation_row(1, scores={"b": 1})],
}


@pytest.mark.parametrize("rows", MIXED.values(), ids=MIXED.keys())
def test_a_column_is_numbers_or_text_throughout(rows: list[SampleRow]) -> None:
    columns, data = sample_table(rows)
    assert len(data) == 2
    for name, cells in zip(columns, zip(*data, strict=True), strict=True):
        kinds = {type(cell) for cell in cells if cell is not None}
        assert kinds <= {int, float} or kinds == {str}, name


@pytest.mark.parametrize(
    ("scores", "cells"),
    [
        ([True, False], [1.0, 0.0]),
        ([np.float64(0.25), None], [0.25, None]),
        ([(1.5, 2), (0, 3)], ["[1.5, 2]", "[0, 3]"]),
        ([(1.5, 2), None], ["[1.5, 2]", None]),
        ([(np.float64(1.5), [2]), 1], ["[1.5, [2]]", "1.0"]),
    ],
    ids=["bool", "scalar-and-missing", "tuples", "tuple-and-missing", "tuple-and-number"],
)
def test_scores(scores: list[Any], cells: list[Any]) -> None:
    rows = [generation_row(doc, scores={"score": score}) for doc, score in enumerate(scores)]
    assert [line["score[none]"] for line in lines(rows)] == cells


def test_a_document_without_a_filters_row_has_empty_cells() -> None:
    first, second = lines([generation_row(0, filter="a"), generation_row(0, filter="b"), generation_row(1, filter="b")])
    assert (first["output[a]"], first["exact_match[a]"]) == ("Paris", 1.0)
    assert (second["output[a]"], second["exact_match[a]"], second["output[b]"]) == (None, None, "Paris")


def test_long_texts_stay_whole() -> None:
    prompt = "x" * 300_000
    (line,) = lines([generation_row(0, arguments=((prompt, {}),))])
    assert line["prompt"] == prompt


def test_no_rows_are_no_lines() -> None:
    assert sample_table([])[1] == []


def test_token_ids_are_left_out() -> None:
    assert sample_table([generation_row(0, input_ids=((5, 6),))]) == sample_table([generation_row(0)])
