from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hydra_eval.errors import UserError
from hydra_eval.tasks.templates import choice_field, key_field, render, target_field, text_field

ROW = {
    "question": " Is it?\n",
    "answer": 1,
    "letter": "B",
    "digits": "2",
    "choices": ["no", "yes"],
    "empty": "",
    "listed": "['a', 'b']",
    "nested": {"text": ["one", "two"]},
    "markup": "<b> & {{question}}",
}
COLUMNS = tuple(ROW)


def text(value: Any, *, has_choices: bool = False) -> Any:
    return text_field(value, columns=COLUMNS, has_choices=has_choices, where="t.yaml: doc_to_text")(ROW)


def target(value: Any, *, has_choices: bool = False) -> Any:
    return target_field(value, columns=COLUMNS, has_choices=has_choices, where="t.yaml: doc_to_target")(ROW)


def choices(value: Any) -> Any:
    field = choice_field(value, columns=COLUMNS, where="t.yaml: doc_to_choice")
    assert field is not None
    return field(ROW)


@pytest.mark.parametrize("field", [text, target])
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("question", " Is it?\n"),
        ("answer", 1),
        ("choices", ["no", "yes"]),
        ("digits", "2"),
        ("Question", "Question"),
        ("question:", "question:"),
        ("{{question}}", " Is it?\n"),
        ("{{question.strip()}}", "Is it?"),
        ("Q:{{question}}\n", "Q: Is it?\n\n"),
        ("{{markup}}", "<b> & {{question}}"),
        ("{{nested.text[1]}}", "two"),
        ("{{choices[answer]}}", "yes"),
        ("{% if answer %}\n  x\n{% endif %}\n", "\n  x\n\n"),
        ("{{question | regex_replace('\\\\s+', '_')}}", "_Is_it?_"),
        ("{{question | regex_replace('\\\\s+', '_', 1)}}", "_Is it?\n"),
        ("{{digits}}", "2"),
        ("", ""),
        (3, 3),
    ],
)
def test_a_column_gives_its_raw_value_and_anything_else_is_a_template(
    field: Callable[[Any], Any], value: Any, expected: Any
) -> None:
    assert field(value) == expected
    assert type(field(value)) is type(expected)


@pytest.mark.parametrize("field", [text, target])
@pytest.mark.parametrize(
    ("value", "expected"),
    [("{{digits}}", 2), ("{{answer}}", 1), ("{{answer - 1}}", 0), ("digits", "2"), (" {{digits}}", " 2"), ("-1", "-1")],
)
def test_digits_become_a_number_only_beside_choices_and_out_of_a_template(
    field: Callable[..., Any], value: str, expected: Any
) -> None:
    assert field(value, has_choices=True) == expected
    assert type(field(value, has_choices=True)) is type(expected)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("{{listed}}", ["a", "b"]),
        ("listed", "['a', 'b']"),
        ("['{{letter}}', 3]", ["B", 3]),
        ("[{{letter}}]", "[B]"),
        ("[", "["),
        ("[]", []),
        (["a", 0], ["a", 0]),
        (" {{listed}}", " ['a', 'b']"),
    ],
)
def test_a_target_that_reads_as_a_list_becomes_one(value: Any, expected: Any) -> None:
    assert target(value) == expected


def test_a_text_that_reads_as_a_list_stays_text() -> None:
    assert text("{{listed}}") == "['a', 'b']"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("choices", ["no", "yes"]),
        ("{{choices}}", ["no", "yes"]),
        ("{{['x', letter]}}", ["x", "B"]),
        (["{{letter}}", "b"], ["{{letter}}", "b"]),
        ({"A": "{{letter}}", "B": "two"}, ["{{letter}}", "two"]),
        (lambda row: [row["letter"]], ["B"]),
    ],
    ids=["column", "template", "list template", "literal", "mapping", "hook"],
)
def test_choices(value: Any, expected: list[str]) -> None:
    assert choices(value) == expected


def test_no_choices_is_not_an_empty_list_of_them() -> None:
    assert choice_field(None, columns=COLUMNS, where="t") is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [("letter", "B"), ("{{letter}}: ", "B: "), ("The answer is", "The answer is"), ("", None), (None, None)],
)
def test_descriptions_and_prefixes_are_keys_of_the_row_or_templates(value: Any, expected: str | None) -> None:
    assert key_field(value, where="t")(ROW) == expected


@pytest.mark.parametrize("field", [text, target, choices, lambda value: key_field(value, where="t")(ROW)])
def test_a_hook_is_called_with_the_row(field: Callable[[Any], Any]) -> None:
    assert field(lambda row: [row["letter"]]) == ["B"]


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{{qestion}}", "'qestion' is undefined. Did you mean 'question'\\? Columns: answer, choices, "),
        ("{{zzz}}", "'zzz' is undefined. Columns: answer"),
        ("{{nested.txt}}", "has no attribute 'txt'"),
        ("{{question", "unexpected end of template"),
        ("{{question | shout}}", "No filter named 'shout'"),
        ("{{question + 1}}", "TypeError: can only concatenate str"),
        ("{{choices.index('maybe')}}", "ValueError: 'maybe' is not in list"),
        ("{{1 / 0}}", "ZeroDivisionError"),
        ("{{choices[5]}}", "list object has no element 5"),
        ("{{question.strip().nope()}}", "has no attribute 'nope'"),
    ],
)
def test_what_is_wrong_in_a_template_is_said_with_field_and_template(template: str, message: str) -> None:
    with pytest.raises(UserError, match=f"(?s)^t.yaml: doc_to_text: .*{message}.*Template: "):
        text(template)


@pytest.mark.parametrize(
    ("field", "value"), [(text, None), (text, ["a"]), (text, True), (target, None), (target, {"a": 1}), (choices, 3)]
)
def test_values_that_are_no_field(field: Callable[[Any], Any], value: Any) -> None:
    with pytest.raises(UserError, match=r"needs a column, a template or a !function, but is "):
        field(value)


@pytest.mark.parametrize("value", ["letter A", "{{answer}}", "{'a': 1}"])
def test_a_template_of_choices_must_give_a_list(value: str) -> None:
    with pytest.raises(UserError, match=r"doc_to_choice: the template must give a list such as \['A', 'B'\], but gave"):
        choices(value)


@pytest.mark.parametrize("column", ["self", "class", "range", "loop", "args", "kwargs", "a b"])
def test_a_column_may_be_called_anything(column: str) -> None:
    assert render("{{q}}", {"q": "sky", column: 1}, where="t") == "sky"


def test_the_one_name_that_a_template_cannot_show() -> None:
    with pytest.raises(UserError, match=r"^t: 'self' is a word of Jinja's own, .*rename that column in process_docs"):
        render("{{self}}", {"self": "sky"}, where="t")


def test_rendering_is_strict_and_keeps_the_last_line_end() -> None:
    assert render("{{a}}\n", {"a": 1}, where="t") == "1\n"


@pytest.mark.parametrize("value", [3, ["a"], {"a": 1}], ids=repr)
def test_a_description_that_is_no_text_is_refused_before_any_row(value: Any) -> None:
    with pytest.raises(UserError, match="t: needs text, a template or a !function"):
        key_field(value, where="t")


def test_a_row_without_the_column_names_those_it_has() -> None:
    field = target_field("gold", columns=["gold"], has_choices=False, where="t: doc_to_target")
    with pytest.raises(UserError, match=r"t: doc_to_target: this row has no column 'gold'. Columns: text"):
        field({"text": "a"})
