from __future__ import annotations

import json
import sys

import pytest

from hydra_eval.errors import UserError, at_document, counted, did_you_mean, known_names, line_of, lookup, noted

TABLE = {"regex": 1, "regex_pos": 2, "take_first": 3}


def test_a_known_name_is_looked_up() -> None:
    assert lookup(TABLE, "regex", kind="filter", where="t.yaml") == 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("regexx", "t.yaml: unknown filter 'regexx'. Did you mean 'regex'? Known: regex, regex_pos, take_first."),
        ("zzz", "t.yaml: unknown filter 'zzz'. Known: regex, regex_pos, take_first."),
        ("", "t.yaml: unknown filter ''. Known: regex, regex_pos, take_first."),
    ],
)
def test_an_unknown_name_is_said_with_place_nearest_and_known(name: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        lookup(TABLE, name, kind="filter", where="t.yaml")
    assert str(caught.value) == message


@pytest.mark.parametrize(("number", "expected"), [(0, "0 rows"), (1, "1 row"), (2_000, "2,000 rows")])
def test_one_has_no_plural(number: int, expected: str) -> None:
    assert counted(number, "row") == expected


@pytest.mark.parametrize(("number", "expected"), [(1, "1 class"), (2, "2 classes")])
def test_a_plural_of_its_own(number: int, expected: str) -> None:
    assert counted(number, "class", "classes") == expected


def test_a_value_that_is_false_is_found_too() -> None:
    assert lookup({"none": None}, "none", kind="x", where="y") is None


@pytest.mark.parametrize(
    ("count", "expected"), [(1, " Did you mean 'regex'?"), (3, " Did you mean 'regex' or 'regex_pos'?")]
)
def test_as_many_near_names_as_wanted(count: int, expected: str) -> None:
    assert did_you_mean("rege", TABLE, count=count) == expected


def test_names_are_sorted_and_cut() -> None:
    assert known_names(["b", "a"]) == "a, b"
    assert known_names(f"n{index:02d}" for index in range(33)).endswith("n29, … (3 more)")
    assert known_names(["b", "a", "c"], shown=3) == "a, b, c"


def test_a_user_error_names_the_document_once() -> None:
    with pytest.raises(UserError, match=r"^wrong \(task 'toy', document 7\)$"), at_document("toy", 7):
        raise UserError("wrong")


def test_any_other_error_keeps_type_and_message_and_gets_a_note() -> None:
    with pytest.raises(ZeroDivisionError) as caught, at_document("toy", 7):
        _ = 1 / 0
    assert caught.value.__notes__ == ["in task 'toy', document 7"]
    assert str(caught.value) == "division by zero"


def test_code_of_a_task_cannot_end_the_program() -> None:
    with pytest.raises(RuntimeError, match="SystemExit: 0") as caught, noted("in process_docs"), at_document("toy", 7):
        sys.exit(0)
    assert caught.value.__notes__ == ["in task 'toy', document 7", "in process_docs"]
    assert line_of(caught.value) == f"{__file__}, line {caught.traceback[0].lineno + 2}"


def test_nothing_happens_where_nothing_is_raised() -> None:
    with at_document("toy", 7):
        pass


def test_the_line_of_task_code_that_called_a_library() -> None:
    with pytest.raises(json.JSONDecodeError) as caught:
        json.loads("{")
    assert line_of(caught.value) == f"{__file__}, line {caught.traceback[0].lineno + 1}"


def test_an_error_that_was_never_raised_has_no_line() -> None:
    assert line_of(ValueError("x")) is None
