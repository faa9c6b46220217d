from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from hydra_eval.errors import UserError
from hydra_eval.models.replies import (
    Ending,
    Manner,
    all_stops,
    check_generation,
    cut_at_stops,
    find_ending,
    reply_seed,
)
from hydra_eval.records import Generation, InstanceKey

TEXT = {1: "</s>", 2: "Pa", 3: "ris", 4: ".\n", 5: "\nQ", 6: "uestion", 7: ":", 8: "<pad>", 9: "é"}


def decode(ids: Any) -> str:
    return "".join(TEXT[token] for token in ids)


def manner(stops: Sequence[str], **fields: Any) -> Manner:
    generation = Generation(max_new_tokens=9, stop=tuple(stops))
    return Manner(generation=generation, eos_ids=(1,), stops=tuple(stops), pad_id=8, decode=decode, **fields)


@pytest.mark.parametrize(
    ("ids", "stops", "expected"),
    [
        ([2, 3, 4, 5, 6], ["\n\n"], Ending(4, 4, "stop")),
        ([2, 3, 4, 5, 6], ["Question"], Ending(5, 5, "stop")),
        ([2, 3, 4, 5, 6], ["Question", "\n\n"], Ending(4, 4, "stop")),
        ([2, 3], ["Par"], Ending(2, 2, "stop")),
        ([2, 3], ["P"], Ending(1, 1, "stop")),
        ([2, 3, 1, 8, 8], ["\n\n"], Ending(3, 2, "stop")),
        ([2, 3, 1, 4, 5], ["\n\n"], Ending(3, 2, "stop")),
        ([2, 3, 4, 5, 8, 1, 1], ["\n\n"], Ending(4, 4, "stop")),
        ([2, 3, 4, 6], ["\n\n"], Ending(4, 4, "length")),
        ([2, 3], [], Ending(2, 2, "length")),
        ([1], [], Ending(1, 0, "stop")),
    ],
    ids=str,
)
def test_where_a_reply_ends(ids: list[int], stops: list[str], expected: Ending) -> None:
    assert find_ending(ids, manner(stops)) == expected


@pytest.mark.parametrize(
    ("text", "stops", "kept"),
    [
        ("Paris.\n\nQuestion: next", ["\n\n"], "Paris."),
        ("Paris.\n\nQuestion: next", ["Question", "\n\n"], "Paris."),
        ("nine nuns.\n\nx", ["\n\n"], "nine nuns."),
        (" kept  ", ["x"], " kept  "),
        ("stop at once", ["stop"], ""),
    ],
)
def test_text_before_the_first_stop(text: str, stops: list[str], kept: str) -> None:
    assert cut_at_stops(text, stops) == kept


def test_stops_keep_their_order_without_empty_or_double_ones() -> None:
    generation = Generation(max_new_tokens=1, stop=("b", "", "a", "b"))
    assert all_stops(generation, "</s>") == ("b", "a", "</s>")
    assert all_stops(generation, "") == ("b", "a")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"extra": {"num_beam": 4}}, r"'num_beam' .* Did you mean 'num_beams'\?"),
        ({"extra": {"max_length": 4}}, "generation.max_new_tokens, not"),
        ({"extra": {"num_return_sequences": 2}}, "generation.n, not"),
        ({"extra": {"eos_token_id": "</s>"}}, "'eos_token_id'='</s>': give a token's id, or a list of ids"),
        ({"extra": {"eos_token_id": [5, "</s>"]}}, "give a token's id, or a list of ids"),
        ({"extra": {"output_scores": True}}, "'output_scores' changes no reply"),
        ({"max_new_tokens": 100}, "leaves no room for a prompt in the model's window of 100"),
        ({"do_sample": True}, "temperature"),
        ({"do_sample": True, "temperature": 1.0, "extra": {"num_beams": 2}}, "num_beams"),
    ],
    ids=str,
)
def test_what_cannot_be_generated_is_refused(fields: dict[str, Any], message: str) -> None:
    generation = Generation(**{"max_new_tokens": 9, "stop": (), **fields})
    with pytest.raises(UserError, match=f"toy: .*{message}"):
        check_generation(generation, task="toy", max_length=100, known=["num_beams", "eos_token_id"])


def test_known_options_pass() -> None:
    generation = Generation(max_new_tokens=99, stop=(), extra={"num_beams": 4})
    check_generation(generation, task="toy", max_length=100, known=["num_beams"])


def test_seed_depends_on_every_part_of_the_identity() -> None:
    keys = [
        InstanceKey("t", 1, 2, 3),
        InstanceKey("t", 1, 2, 4),
        InstanceKey("t", 12, 3, 4),
        InstanceKey("t1", 2, 3, 4),
    ]
    seeds = {reply_seed(seed, key) for seed in (0, 1) for key in keys}
    assert len(seeds) == 8
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_seed_is_the_same_in_any_process() -> None:
    assert reply_seed(1234, InstanceKey("gsm8k", 5, 0, 1)) == 2810941151910617946
