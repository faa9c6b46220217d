from __future__ import annotations

import pytest

from hydra_eval.dry_run.visible import head_and_tail, marked_ids, pieces, visible
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


@pytest.mark.parametrize(
    ("most", "shown"),
    [
        (None, ["a", "b", "c", "d", "e"]),
        (5, ["a", "b", "c", "d", "e"]),
        (3, ["a", "… 2 lines left out …", "d", "e"]),
        (1, ["… 4 lines left out …", "e"]),
    ],
)
def test_long_texts_show_their_ends(most: int | None, shown: list[str]) -> None:
    assert head_and_tail(["a", "b", "c", "d", "e"], most) == shown
