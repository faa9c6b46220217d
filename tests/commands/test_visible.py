from __future__ import annotations

import pytest

from hydra_eval.commands.visible import marked_ids, pieces, visible
from hydra_eval.models.dummy import WordTokenizer


@pytest.mark.parametrize(
    ("text", "shown"),
    [("a b", "a·b"), ("a\n", "a⏎\n"), ("\ta\r", "⇥a␍"), ("a\u00a0b", "a⍽b"), ("", "")],
    ids=["blank", "line end", "tab", "hard blank", "nothing"],
)
def test_white_space_can_be_seen(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_the_scored_ids_stand_in_brackets() -> None:
    assert marked_ids([1, 2], [3, 4]) == "1 2 ⟦3 4⟧"
    assert marked_ids([1, 2], []) == "1 2"


def test_each_token_stands_beside_its_text() -> None:
    assert pieces([0, 1], WordTokenizer()) == "0=<s>  1=</s>"
