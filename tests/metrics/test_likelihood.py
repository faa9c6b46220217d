from __future__ import annotations

import pytest

from hydra_eval.metrics.base import LikelihoodOutcome
from hydra_eval.metrics.likelihood import acc, logprob, logprob_and_bytes, logprob_and_words


@pytest.mark.parametrize(("is_greedy", "expected"), [(True, 1), (False, 0)])
def test_acc(is_greedy: bool, expected: int) -> None:
    assert acc(LikelihoodOutcome(text=" x", logprob=-1.0, is_greedy=is_greedy)) == expected


def test_logprob() -> None:
    assert logprob(LikelihoodOutcome(text=" x", logprob=-1.5, is_greedy=True)) == -1.5


@pytest.mark.parametrize(
    ("text", "words", "size"),
    [
        pytest.param("one two", 2, 7, id="plain"),
        pytest.param("one \n two", 2, 9, id="a_run_of_blanks_is_one_gap"),
        pytest.param(" one two\n", 4, 9, id="blanks_at_the_ends_count"),
        pytest.param("né", 1, 3, id="bytes_are_utf8"),
        pytest.param("", 1, 0, id="empty"),
    ],
)
def test_units(text: str, words: int, size: int) -> None:
    outcome = LikelihoodOutcome(text=text, logprob=-3.0)
    assert logprob_and_words(outcome) == (-3.0, words)
    assert logprob_and_bytes(outcome) == (-3.0, size)
