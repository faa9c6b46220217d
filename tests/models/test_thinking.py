from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from hydra_eval.config.schema import ModelConfig
from hydra_eval.errors import UserError
from hydra_eval.models.replies import Ending, Manner, find_ending
from hydra_eval.models.thinking import answer_so_far, check_marker, marker_of, part_reply
from hydra_eval.records import Generation

TEXT = {1: "</s>", 2: "so", 3: "\n\n", 4: "</th", 5: "ink", 6: ">\n", 7: " A", 8: "nd", 9: "<end>"}
SPECIAL = (1, 9)


def decode(ids: Sequence[int]) -> str:
    return "".join(TEXT[token] for token in ids)


def plain(ids: Sequence[int]) -> str:
    return decode([token for token in ids if token not in SPECIAL])


@pytest.mark.parametrize(
    ("ids", "marker", "reasoning", "answer"),
    [
        ([2, 3, 4, 5, 6, 3, 7, 3], None, None, "so\n\n</think>\n\n\n A\n\n"),
        ([2, 3, 4, 5, 6, 3, 7, 3], "</think>", "so\n\n</think>", "A\n\n"),
        ([2, 4, 5, 6, 2, 4, 5, 6, 7], "</think>", "so</think>\nso</think>", "A"),
        ([2, 4, 5, 6, 2, 4, 5, 6], "</think>", "so</think>\nso</think>", ""),
        ([3, 2, 3, 7], "</think>", None, "so\n\n A"),
        ([2, 9, 7, 9, 8], "<end>", "so<end> A<end>", "nd"),
        ([2, 9, 7, 9, 8], 9, "so<end> A<end>", "nd"),
        ([3, 9], 9, "\n\n<end>", ""),
        ([9, 3, 7], 9, "<end>", "A"),
        ([3, 2], 9, None, "so"),
        ([2, 9, 2, 7], "<end>so", "so<end>so", "A"),
        ([], "</think>", None, ""),
    ],
    ids=str,
)
def test_what_follows_the_last_marker_is_the_answer(
    ids: list[int], marker: Any, reasoning: str | None, answer: str
) -> None:
    assert part_reply(ids, marker, decode, plain) == (reasoning, answer)


@pytest.mark.parametrize(
    ("ids", "marker", "found"),
    [
        ([2, 4, 5], "</think>", None),
        ([2, 4, 5, 6], "</think>", ""),
        ([2, 4, 5, 6, 3, 7, 4, 5, 6, 8], "</think>", "A</think>\nnd"),
        ([2, 7], 9, None),
        ([2, 9, 3, 7, 9], 9, "A<end>"),
    ],
    ids=str,
)
def test_the_answer_so_far_follows_the_first_marker(ids: list[int], marker: Any, found: str | None) -> None:
    assert answer_so_far(ids, marker, decode) == found


@pytest.mark.parametrize(
    ("ids", "marker", "expected"),
    [
        # Stops before the marker, and in the blanks behind it, do not count.
        ([2, 3, 4, 5, 6, 3, 7, 3, 8], "</think>", Ending(8, 8, "stop")),
        ([2, 3, 9, 3, 7, 3, 8], 9, Ending(6, 6, "stop")),
        ([2, 3, 7, 3, 8], "</think>", Ending(5, 5, "length")),
        ([2, 3, 1, 3], "</think>", Ending(3, 2, "stop")),
        ([2, 4, 5, 6, 7, 1], "</think>", Ending(6, 5, "stop")),
        ([2, 3, 7], None, Ending(2, 2, "stop")),
    ],
    ids=str,
)
def test_a_stop_string_ends_the_answer_alone(ids: list[int], marker: Any, expected: Ending) -> None:
    generation = Generation(max_new_tokens=9, stop=("\n\n",))
    how = Manner(generation=generation, eos_ids=(1,), stops=("\n\n",), pad_id=0, decode=decode, marker=marker)
    assert find_ending(ids, how) == expected


@pytest.mark.parametrize(("given", "marker"), [("</think>", "</think>"), ("151668", 151668), (7, 7), (None, None)])
def test_digits_are_an_id(given: Any, marker: Any) -> None:
    assert marker_of(given) == marker


@pytest.mark.parametrize("given", ["", True, -1, 1.5, ["</think>"]], ids=str)
def test_what_is_no_marker_is_refused(given: Any) -> None:
    with pytest.raises(UserError, match=r"model.think_end_token=.*must be a text or a token's id"):
        ModelConfig(think_end_token=given)


def test_an_id_that_the_model_does_not_have_is_refused() -> None:
    check_marker("</think>", 10)
    check_marker(9, 10)
    with pytest.raises(UserError, match=r"model.think_end_token=10: the model has 10 tokens, so ids end at 9"):
        check_marker("10", 10)
