from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hydra_eval.tasks.choice_questions import (
    Question,
    Unreadable,
    carries_labels,
    find_options,
    is_series,
    label_of,
    read_options,
    split_cue,
    unlisted,
)

LABELS = "ABCD"
ROW = {"question": "Which?", "choices": ["red", "blue", "green", "grey"]}
FORMS = {
    "dot": "{}. {}",
    "bracket": "{}) {}",
    "brackets": "({}) {}",
    "no blank": "({}){}",
    "colon": "{}: {}",
    "square": "[{}] {}",
    "indented": "  {}. {}",
    "full width": "{}．{}",
}


def listing(options: Sequence[str], form: str = "{}. {}", labels: str = LABELS) -> str:
    return "\n".join(form.format(label, option) for label, option in zip(labels, options, strict=False))


def read(text: str, row: object = None, labels: str = LABELS) -> Question:
    return read_options(text, labels, ROW if row is None else row)  # type: ignore[arg-type]


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("labels", ["ABCD", "abcd", "1234"])
@pytest.mark.parametrize("row", [ROW, {}], ids=["told by the row", "told by the lines"])
def test_reads_a_listing(form: str, labels: str, row: object) -> None:
    text = f"Which?\n{listing(ROW['choices'], form, labels)}\nAnswer:"
    found = read_options(text, labels, row)  # type: ignore[arg-type]
    assert (found.before, list(found.options), found.after) == ("Which?", ROW["choices"], "\nAnswer:")
    assert found.listed(found.options) == text


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("Which?\nA. red\nor so\nB. blue\nand\nC. green\n\nAnswer:", ["red\nor so", "blue\nand", "green"]),
        ("Which?\nA. red\nB. blue\nof\nC. green\nand\nAnswer:", ["red", "blue\nof", "green\nand"]),
        ("Which?\n\nA.  red \nB. blue\n\nC. green\n", ["red", "blue", "green"]),
        ("Which?\nA. \nB. blue\nC. green\nAnswer:", ["", "blue", "green"]),
        ("A. red\nB. blue\nC. green", ["red", "blue", "green"]),
    ],
    ids=["several lines", "the last too", "blanks", "an empty one", "nothing else"],
)
def test_options_run_to_the_next_label_or_the_cue(text: str, options: list[str]) -> None:
    found = read(text, {}, "ABC")
    assert list(found.options) == options
    assert found.listed(options) == text


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("A. one\nB. two\nWhich?\nA. red\nB. blue\nAnswer:", ["red", "blue"]),
        ("Which?\nA. red\nB. pink\nB. blue\nAnswer:", ["red\nB. pink", "blue"]),
        ("Which?\nA. red\nB. blue\nName one letter.\nAnswer:", ["red", "blue"]),
        ("Which?\nA. red\nB. blue\nso:", ["red", "blue\nso:"]),
    ],
    ids=["a list in the question", "an option like a label", "a line of instruction", "an option like a cue"],
)
def test_the_row_tells_which_of_several_readings_counts(text: str, options: list[str]) -> None:
    found = read(text, {"values": {"options": options}}, "AB")
    assert list(found.options) == options
    assert found.listed(options) == text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Which?\nAnswer:", "no lines of it begin with A, B"),
        ("Which?\n(A) red (B) blue\nAnswer:", "no lines of it begin with A, B"),
        ("Which?\nB. red\nA. blue\nAnswer:", "no lines of it begin with A, B"),
        ("Which?\nA. red\nB. pink\nB. blue\nAnswer:", "more than one line begins with the same label"),
        ("Which?\nA. red\nB. blue\nName one letter.\nAnswer:", "several lines follow the last label"),
    ],
    ids=["none", "in one line", "out of order", "twice", "no end"],
)
def test_does_not_guess(text: str, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        read(text, {}, "AB")


def test_does_not_search_for_ever() -> None:
    dialogue = "A: yes\nB: no\n" * 40
    with pytest.raises(Unreadable, match="more than one line"):
        read(f"{dialogue}C: so\nD: then\nAnswer:", {})
    with pytest.raises(Unreadable, match="no lines of it begin"):
        read(f"D: so\nC: then\n{dialogue}Answer:", {})


@pytest.mark.parametrize(
    "heading",
    ["Choices:", "OPTIONS:", "Answer choices:", " Possible answers: ", "The options：", "### Options:", "**Choices:**"],
    ids=str.strip,
)
def test_a_heading_is_part_of_the_listing(heading: str) -> None:
    text = f"Which?\n{heading}\n{listing(['red', 'blue'])}\nAnswer:"
    found = read(text, {}, "AB")
    assert found.bare() == "Which?\nAnswer:"
    assert found.listed(found.options) == text


def test_a_question_with_a_colon_is_no_heading() -> None:
    assert read("The best choices are:\nA. red\nB. blue\nAnswer:", {}, "AB").bare() == "The best choices are:\nAnswer:"


@pytest.mark.parametrize("form", ["- {1}", "* {1}", "{1}", *FORMS.values()], ids=["dash", "star", "bare", *FORMS])
def test_finds_options_that_are_known(form: str) -> None:
    options = ["a.b (c)", " red", "2: [x]"]
    text = f"Which?\n{listing(list(map(str.strip, options)), form)}\n\nAnswer:"
    found = find_options(text, options)
    assert found is not None
    assert (found.bare(), found.listed(found.options)) == ("Which?\n\nAnswer:", text)


@pytest.mark.parametrize(
    "text",
    ["red or blue?\nAnswer:", "Which?\nA. red\nC. blue\nAnswer:", "Which?\nA. reddish\nB. blue\nAnswer:", "Which?"],
    ids=["in a sentence", "other labels", "other options", "none"],
)
def test_says_that_known_options_are_not_listed(text: str) -> None:
    assert find_options(text, ["red", "blue"]) is None


@pytest.mark.parametrize(
    ("text", "body", "cue"),
    [
        ("Which?\nAnswer:", "Which?", "\nAnswer:"),
        ("Which?\n\nAnswer: ", "Which?", "\n\nAnswer: "),
        ("哪个？\n答案：", "哪个？", "\n答案："),
        ("Answer:", "Answer:", ""),
        ("Which?\nSay it.", "Which?\nSay it.", ""),
        ("", "", ""),
    ],
    ids=["usual", "blanks", "full width", "one line", "no colon", "empty"],
)
def test_the_cue_is_a_last_line_that_ends_in_a_colon(text: str, body: str, cue: str) -> None:
    assert split_cue(text) == (body, cue)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which?\nAnswer:", "Which?\n 1. red\n 2. blue\nAnswer:"),
        ("Which? ", "Which?\n 1. red\n 2. blue\nSo:"),
        ("", " 1. red\n 2. blue\nSo:"),
        ("Which?\nA. red\nB. blue\nAnswer:", "Which?\n1. red\n2. blue\nAnswer:"),
        ("Which?\n(a) red\n(b) blue\nAnswer:", "Which?\n(1) red\n(2) blue\nAnswer:"),
        ("Which?\nOptions:\n- red\n- blue\nAnswer:", "Which?\nOptions:\n 1. red\n 2. blue\nAnswer:"),
    ],
    ids=["none", "no cue", "no question", "letters", "brackets", "dashes"],
)
def test_writes_labels_before_the_options(question: str, expected: str) -> None:
    options = ["red", "blue"]
    found = find_options(question, options) or unlisted(question, options)
    assert found.labelled(options, ["1", "2"], cue="\nSo:") == expected


@pytest.mark.parametrize(
    ("choice", "label"),
    [("A", "A"), ("(b)", "b"), (" C.", "C"), ("12)", "12"), ("ب", "ب"), ("no", None), ("", None), ("A red one", None)],
)
def test_a_label_is_a_letter_or_a_number(choice: str, label: str | None) -> None:
    assert label_of(choice) == label


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("ABC", True),
        ("abc", True),
        ("123", True),
        ("01", True),
        ("BA", True),
        ("AC", False),
        ("345", False),
        ("yn", False),
    ],
)
def test_labels_are_a_series(labels: str, expected: bool) -> None:
    assert is_series(labels) is expected


@pytest.mark.parametrize(
    ("choices", "expected"),
    [
        (["(A)red", "(B) blue"], True),
        (["1. red", "2. blue"], True),
        (["1.5", "2.5"], False),
        (["A", "B"], False),
        (["A) red", "blue"], False),
    ],
    ids=["brackets", "numbers", "decimals", "labels alone", "not all"],
)
def test_choices_may_bring_their_labels(choices: list[str], expected: bool) -> None:
    assert carries_labels(choices) is expected


OPTION = st.text(st.sampled_from("ab A:.()\n12Bé"), min_size=1, max_size=12).map(str.strip).filter(bool)


@given(options=st.lists(OPTION, min_size=4, max_size=4), question=st.sampled_from(["Which?", "A. one\nB. two\nWhich:"]))
def test_reads_what_was_written_or_says_that_it_cannot(options: list[str], question: str) -> None:
    text = f"{question}\n{listing(options)}\nAnswer:"
    try:
        found = read(text, {"question": question, "choices": options})
    except Unreadable:
        assume(False)
        raise
    assert list(found.options) == options
    assert found.listed(options) == text
    assert found.bare() == f"{question}\nAnswer:"


@given(options=st.lists(OPTION, min_size=2, max_size=4))
def test_is_sure_of_itself_where_no_option_looks_like_anything_else(options: list[str]) -> None:
    assume(not any(re.search(r"[A-D][.:)]|\n", option) for option in options))
    found = read(f"Which?\n{listing(options)}\nAnswer:", {}, LABELS[: len(options)])
    assert list(found.options) == options
