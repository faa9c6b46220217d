"""Each filter beside lm-eval's own, on the same replies."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hydra_eval.filters import FILTERS

pytest.importorskip("lm_eval", reason="needs the parity extra: lm_eval")

from lm_eval.filters import build_filter_ensemble
from lm_eval.filters import extraction as lm_eval_extraction

pytestmark = pytest.mark.parity

REPLIES = st.text(alphabet="AB12(): .\nthe answer is$,-#é", max_size=40)
LISTS = st.lists(REPLIES, min_size=1, max_size=3)

# None of these can match without text in a group, where lm-eval and we differ on purpose.
PATTERNS = [
    r"#### (\-?[0-9\.\,]+)",
    r"(-?[$0-9.,]{2,})|(-?[0-9]+)",
    r"(?<=answer is )(.*)(?=.)",
    r"answer is \(?([AB])\)?",
    r"([AB])|\(([12])\)|:\s*([AB12])",
    r"^(.*?)(?=\n|$)",
    r"\d*",
    r" . ",
]


def lm_eval_filter(name: str, resps: list[Any], docs: list[Any], options: dict[str, Any]) -> list[Any]:
    made = build_filter_ensemble("p", [(name, options)]).filters[0]()
    return list(made.apply(resps, docs))


def ours(name: str, resps: list[Any], docs: list[Any], options: dict[str, Any]) -> list[Any]:
    return FILTERS[name](**options)(resps, docs)


@settings(max_examples=400, deadline=None)
@given(replies=LISTS, pattern=st.sampled_from(PATTERNS), group_select=st.sampled_from([0, -1]))
def test_regex(replies: list[str], pattern: str, group_select: int) -> None:
    options = {"regex_pattern": pattern, "group_select": group_select}
    assert ours("regex", [replies], [{}], options) == lm_eval_filter("regex", [replies], [{}], options)


@pytest.fixture(scope="module")
def small_unicode() -> Iterator[None]:
    """lm-eval walks all of Unicode in every call, a third of a second; the texts here are ASCII."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lm_eval_extraction, "sys", SimpleNamespace(maxunicode=128))
        yield


@pytest.mark.usefixtures("small_unicode")
@settings(max_examples=400, deadline=None)
@given(
    replies=st.lists(st.text(alphabet="ABab .(:)!", max_size=12), min_size=1, max_size=2),
    choices=st.lists(st.text(alphabet="ABab .!", max_size=3), min_size=1, max_size=4),
    options=st.fixed_dictionaries(
        {
            "regex_pattern": st.sampled_from([r"(\([A-Z]\))", r"(?:(\(A\))|(\(B\))|())", r"x^"]),
            "group_select": st.sampled_from([0, -1]),
        },
        optional={
            "ignore_case": st.booleans(),
            "ignore_punctuation": st.just(True),
            "regexes_to_ignore": st.sampled_from([["a"], ["^ ", r"\."]]),
            "fallback": st.just("?"),
        },
    ),
)
def test_multi_choice_regex(replies: list[str], choices: list[str], options: dict[str, Any]) -> None:
    docs = [{"choices": choices}]
    expected = lm_eval_filter("multi_choice_regex", [replies], docs, options)
    assert ours("multi_choice_regex", [replies], docs, options) == expected


@settings(max_examples=200, deadline=None)
@given(text=st.text(alphabet="per: loc,none\n$ date:person:Company", max_size=60))
def test_format_span(text: str) -> None:
    assert ours("format_span", [[text]], [{}], {}) == lm_eval_filter("format_span", [[text]], [{}], {})


@settings(max_examples=200, deadline=None)
@given(text=st.text(alphabet="('NOUN', ') []", max_size=60))
def test_regex_pos(text: str) -> None:
    assert ours("regex_pos", [[text]], [{}], {}) == lm_eval_filter("regex_pos", [[text]], [{}], {})


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("remove_whitespace", {}),
        ("lowercase", {}),
        ("uppercase", {}),
        ("map", {"mapping_dict": {" a": 1}, "default_value": 0}),
        ("map", {}),
        ("take_first", {}),
        ("take_first_k", {"k": 2}),
        ("majority_vote", {}),
        ("custom", {"filter_fn": lambda resps, docs: [entry[::-1] for entry in resps]}),
    ],
)
@settings(max_examples=50, deadline=None)
@given(resps=st.lists(st.lists(st.sampled_from(["a", " a", "Bİ", "ß\n"]), min_size=2, max_size=5), min_size=1))
def test_the_others(name: str, options: dict[str, Any], resps: list[list[str]]) -> None:
    docs: list[dict[str, Any]] = [{} for _ in resps]
    assert ours(name, resps, docs, options) == lm_eval_filter(name, resps, docs, options)
