from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from hydra_eval.commands.draft import Fields, draft
from hydra_eval.errors import UserError

QUESTION = {"question": "Capital of Peru?", "answer": "Lima"}


def drafted(kind: str, row: Mapping[str, Any], *, splits: tuple[str, ...] = ("test",), **given: str) -> dict[str, Any]:
    text = draft("new", kind, {"dataset_path": "here"}, dict.fromkeys(splits, row), Fields(**given))
    return dict(yaml.safe_load(text))


def test_a_question_and_its_answer() -> None:
    content = drafted("generation", QUESTION)
    assert (content["task"], content["dataset_path"], content["test_split"]) == ("new", "here", "test")
    assert (content["doc_to_text"], content["doc_to_target"]) == ("Question: {{question}}\nAnswer:", "answer")
    assert content["generation_kwargs"]["until"] == ["\n"]


@pytest.mark.parametrize("column", ["the question", "a-b", "1st", "self", "not"])
def test_a_column_that_no_template_can_name_stands_alone(column: str) -> None:
    assert drafted("generation", {column: "1 + 1?", "answer": "2"}, text=column)["doc_to_text"] == column


def test_a_question_that_is_no_column() -> None:
    with pytest.raises(UserError, match=r"'qestion' is no column. Columns: question, answer"):
        drafted("generation", {"question": "1 + 1?", "answer": "2"}, text="qestion")


def test_a_passage_stands_before_its_question() -> None:
    content = drafted("generation", {"passage": "Long ago", **QUESTION})
    assert content["doc_to_text"] == "{{passage}}\nQuestion: {{question}}\nAnswer:"


@pytest.mark.parametrize(
    ("columns", "choices", "target"),
    [
        ({"choices": ["a", "b"], "answer": 1}, "choices", "answer"),
        ({"options": ["a", "b"], "label": "b"}, "options", "label"),
        (
            {"choices": {"text": ["a"], "label": ["A"]}, "answerKey": "A"},
            "{{choices.text}}",
            "{{choices.label.index(answerKey)}}",
        ),
        ({"sol1": "a", "sol2": "b", "label": 0}, "{{[sol1, sol2]}}", "label"),
        (
            {"A": "x", "B": "y", "C": "z", "D": "w", "answer": "C"},
            "{{[A, B, C, D]}}",
            "{{['A', 'B', 'C', 'D'].index(answer)}}",
        ),
        ({"choices": ["a", "b"], "answer": "B"}, "choices", "{{'ABCDEFGHIJ'.index(answer.upper())}}"),
    ],
    ids=["list and index", "list and text", "texts and labels", "two columns", "four letters", "list and letter"],
)
def test_choices_in_the_shapes_that_data_sets_have(columns: dict[str, Any], choices: str, target: str) -> None:
    content = drafted("choice", {"question": "Which?", **columns})
    assert (content["doc_to_choice"], content["doc_to_target"]) == (choices, target)


def test_a_text_to_be_read_whole() -> None:
    content = drafted("perplexity", {"page": "Once upon a time"})
    assert (content["output_type"], content["doc_to_target"]) == ("loglikelihood_rolling", "page")


@pytest.mark.parametrize(
    ("splits", "evaluated", "shots"),
    [
        (("train", "validation", "test"), "test", "train"),
        (("train", "validation"), "validation", "train"),
        (("validation", "test"), "test", "validation"),
        (("train",), "train", None),
        (("first", "second"), "first", None),
    ],
    ids=["all three", "no test", "no train", "only one", "other names"],
)
def test_what_is_evaluated_and_where_examples_come_from(
    splits: tuple[str, ...], evaluated: str, shots: str | None
) -> None:
    content = drafted("generation", QUESTION, splits=splits)
    assert (content["test_split"], content.get("training_split")) == (evaluated, shots)


def test_named_columns_and_templates_count_before_guesses() -> None:
    row = {"q": "Which?", "right": 1, "wrong": ["a", "b"], **QUESTION}
    content = drafted("choice", row, text="Say: {{q}}", target="right", choices="wrong")
    assert (content["doc_to_text"], content["doc_to_target"], content["doc_to_choice"]) == (
        "Say: {{q}}",
        "right",
        "wrong",
    )


@pytest.mark.parametrize(
    ("kind", "row", "given", "message"),
    [
        ("generation", {"x": 1}, {}, "Which column holds the answer? Name it with --target. Columns: x."),
        ("choice", {"question": "?", "answer": 1}, {}, "Which column holds the choices? Name it with --choices."),
        ("perplexity", {"x": 1}, {}, "Which column holds the text? Name it with --text."),
        ("generation", QUESTION, {"target": "anser"}, "'anser' is no column. Columns: question, answer."),
    ],
    ids=["no answer", "no choices", "no text", "no such column"],
)
def test_what_cannot_be_guessed_is_asked_for(
    kind: str, row: dict[str, Any], given: dict[str, str], message: str
) -> None:
    with pytest.raises(UserError) as caught:
        drafted(kind, row, **given)
    assert str(caught.value).startswith(message)
