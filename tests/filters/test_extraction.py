from __future__ import annotations

from typing import Any

import pytest

from hydra_eval.errors import UserError
from hydra_eval.filters import FILTERS

CAPITALS = {"choices": ["Rome", "Rome by night", "Oslo."]}


def one(name: str, reply: Any, doc: Any = None, **options: Any) -> Any:
    """What the filter makes of one reply of one request."""
    return FILTERS[name](**options)([[reply]], [doc or {}])[0][0]


@pytest.mark.parametrize(
    ("options", "reply", "expected"),
    [
        pytest.param({}, "so\n#### 1,234", "1,234", id="default_pattern"),
        pytest.param({}, "no number", "[invalid]", id="default_fallback"),
        pytest.param({"fallback": "none"}, "no number", "none", id="own_fallback"),
        pytest.param({"regex_pattern": r"\d+"}, "7 8 9", "7", id="first_match"),
        pytest.param({"regex_pattern": r"\d+", "group_select": -1}, "7 8 9", "9", id="last_match"),
        pytest.param({"regex_pattern": r"\d+", "group_select": 1}, "7 8 9", "8", id="second_match"),
        pytest.param({"regex_pattern": r"\d+", "group_select": 3}, "7 8 9", "[invalid]", id="too_few_matches"),
        pytest.param({"regex_pattern": r"\d+", "group_select": -4}, "7 8 9", "[invalid]", id="too_few_from_the_end"),
        pytest.param({"regex_pattern": r"is( \w+ )"}, "it is 42 now", "42", id="stripped"),
        pytest.param({"regex_pattern": r"(x)|(\d+)"}, "a 42", "42", id="first_group_with_text"),
        pytest.param({"regex_pattern": r"is(.*)"}, "it is", "", id="one_empty_group_is_a_match"),
        pytest.param({}, None, "[invalid]", id="no_text"),
    ],
)
def test_regex(options: dict[str, Any], reply: Any, expected: str) -> None:
    assert one("regex", reply, **options) == expected


@pytest.mark.parametrize("group_select", [0, -1])
@pytest.mark.parametrize(
    ("reply", "expected"), [("no idea", "[invalid]"), ("", "[invalid]"), ("(B)", "(B)"), ("so (A).", "(A)")]
)
def test_matches_with_only_empty_groups_do_not_count(reply: str, expected: str, group_select: int) -> None:
    assert one("regex", reply, regex_pattern=r"(\(A\))|(\(B\))|()", group_select=group_select) == expected


@pytest.mark.parametrize("name", ["regex", "multi_choice_regex"])
@pytest.mark.parametrize("group_select", ["last", 1.0, True])
def test_group_select_must_be_a_whole_number(name: str, group_select: Any) -> None:
    with pytest.raises(UserError, match=r"group_select=.* whole number"):
        FILTERS[name](group_select=group_select)


@pytest.mark.parametrize(
    ("options", "reply", "expected"),
    [
        pytest.param({"regex_pattern": r"(\([A-Z]\))"}, "I say (C), Rome", "(C)", id="pattern_comes_first"),
        pytest.param({}, "It is Rome, I think", "(A)", id="text_of_a_choice"),
        pytest.param({}, "It is Rome by night", "(B)", id="longest_text_wins"),
        pytest.param({}, "it is ROME", "[invalid]", id="case_counts"),
        pytest.param({"ignore_case": True}, "it is ROME", "(A)", id="ignore_case"),
        pytest.param({}, "it is Oslo", "[invalid]", id="punctuation_counts"),
        pytest.param({"ignore_punctuation": True}, "it is Oslo", "(C)", id="ignore_punctuation"),
        pytest.param({"regexes_to_ignore": ["e"]}, "it is Rom", "(A)", id="regexes_to_ignore"),
        pytest.param({"regexes_to_ignore": "e"}, "it is Rom", "(A)", id="one_regex_to_ignore"),
        pytest.param({}, "Rome or Oslo.", "(A)", id="first_text"),
        pytest.param({"group_select": -1}, "Rome or Oslo.", "(C)", id="last_text"),
        pytest.param({}, "Answer: B", "(B)", id="letter_after_colon"),
        pytest.param({}, "Answer: D", "[invalid]", id="no_such_letter"),
        pytest.param({"group_select": 5}, "Answer: B", "[invalid]", id="too_few_matches"),
        pytest.param({"fallback": "?"}, None, "?", id="no_text"),
    ],
)
def test_multi_choice_regex(options: dict[str, Any], reply: Any, expected: str) -> None:
    assert one("multi_choice_regex", reply, CAPITALS, **options) == expected


def test_multi_choice_regex_takes_each_documents_own_choices() -> None:
    outputs = FILTERS["multi_choice_regex"]()([["b", "a"], ["b"]], [{"choices": ["a", "b"]}, {"choices": ["b"]}])
    assert outputs == [["(B)", "(A)"], ["(A)"]]


@pytest.mark.parametrize(
    ("doc", "message"),
    [
        pytest.param({"question": "?"}, "needs a column 'choices'; the document has only: question", id="no_column"),
        pytest.param({"choices": [1, 2]}, "must hold a text per choice", id="numbers"),
    ],
)
def test_multi_choice_regex_wants_choices(doc: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        one("multi_choice_regex", "a", doc)


@pytest.mark.parametrize(
    ("options", "reply", "expected"),
    [
        pytest.param({}, "[('Ada', 'PROPN'), ('ran', 'VERB')]", ["PROPN", "VERB"], id="printed_pairs"),
        pytest.param({}, [("Ada", "PROPN")], ["PROPN"], id="pairs"),
        pytest.param({}, "Ada is a noun", ["invalid"], id="default_fallback"),
        pytest.param({"fallback": "?"}, "", "?", id="own_fallback"),
    ],
)
def test_regex_pos(options: dict[str, Any], reply: Any, expected: Any) -> None:
    assert one("regex_pos", reply, **options) == expected
