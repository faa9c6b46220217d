from __future__ import annotations

from typing import Any

import pytest

from hydra_eval.errors import UserError
from hydra_eval.filters.reasoning import strip_reasoning


@pytest.mark.parametrize(
    ("options", "reply", "expected"),
    [
        pytest.param({}, "<think>two and two</think>\n\n4", "4", id="before_the_answer"),
        pytest.param({}, "Well, <think>hm</think> 4.", "Well, 4.", id="within_the_answer"),
        pytest.param({}, "<think>a</think>1 <think>b</think>2", "1 2", id="twice"),
        pytest.param({}, "<think>a <think>b</think> c</think> 4", "4", id="nested"),
        pytest.param({}, "two and two</think> 4", "4", id="opened_in_the_prompt"),
        pytest.param({}, "<think></think>4", "4", id="empty_reasoning"),
        pytest.param({}, " no tags ", " no tags ", id="none"),
        pytest.param({}, "<think>two and", "<think>two and", id="unclosed_is_kept"),
        pytest.param({"unclosed": "empty"}, "<think>two and", "", id="unclosed_is_dropped"),
        pytest.param({"unclosed": "empty"}, "<think>a</think>4 <think>b", "4 ", id="unclosed_after_an_answer"),
        pytest.param({"start": "[A]", "end": "[/A]"}, "[A]x[/A]4 <think>y</think>", "4 <think>y</think>", id="tags"),
        pytest.param({"pairs": [["<a>", "</a>"], ["<b>", "</b>"]]}, "<a>x</a>1<b>y</b>2", "12", id="pairs"),
    ],
)
def test_strip_reasoning(options: dict[str, Any], reply: str, expected: str) -> None:
    assert strip_reasoning(**options)([[reply]], [{}]) == [[expected]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"unclosed": "drop"}, "unclosed='drop' must be one of: keep, empty"),
        ({"pairs": ["<a>"]}, r"pairs=\['<a>'\] must be a list of \[start, end\]"),
        ({"pairs": [["<a>", ""]]}, "two texts that are not empty"),
        ({"pairs": []}, r"pairs=\[\] must be a list"),
        ({"start": ""}, "two texts that are not empty"),
    ],
    ids=["unclosed", "text", "empty_end", "none", "empty_start"],
)
def test_options_that_make_no_sense(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        strip_reasoning(**options)
