"""Where replies end, by both engines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hydra_eval.config.schema import GenerationOverrides
from hydra_eval.config.task_config import TaskConfig
from hydra_eval.models.hf import HFModel
from hydra_eval.records import Generation, Response
from hydra_eval.tasks.generation import generation, merged_kwargs

from .asking import by_key, reordered, reply_packet
from .building import load, save_script

PARIS = (b"Paris", b".\n", b"\nQ", b"uestion", b": next")
NUNS = (b"nine ", b"nuns.", b"\n", b"\nx")
CAFE = (b"caf", b"\xc3", b"\xa9 ", b"\xf0\x9f", b"\x8d\xb0", b"!")


@pytest.fixture(params=[True, False], ids=["tree", "plain"])
def shares(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def said(folder: Path, pieces: Sequence[bytes], shares: bool, stops: Any, *, room: int = 16) -> Response:
    """What a task whose file says `until: stops` makes of the pieces."""
    task = TaskConfig(task="t", file="t.yaml", generation_kwargs={"until": stops, "max_gen_toks": room})
    how = generation(merged_kwargs(task, GenerationOverrides()), seed=1, where="t.yaml")
    (response,) = load(save_script(folder, pieces), prefix_sharing=shares).generate(reply_packet(["?"], how))
    return response


@pytest.mark.parametrize(
    ("pieces", "stops", "text", "tokens"),
    [
        (PARIS, "\n\n", "Paris.", 3),
        (PARIS, ["\n\n"], "Paris.", 3),
        (PARIS, ["\n\n", "Question:"], "Paris.", 3),
        (PARIS, "nn", "Paris.\n\nQuestion: next", 6),
        (NUNS, "\n\n", "nine nuns.", 4),
        (NUNS, "n", "", 1),
        (NUNS, "nine nuns", "", 2),
        (NUNS, [], "nine nuns.\n\nx", 5),
        (CAFE, [], "café 🍰!", 7),
        (CAFE, "é", "caf", 3),
        (CAFE, "🍰", "café ", 5),
        (CAFE, "é 🍰!", "caf", 6),
        (PARIS, "Paris.\n\nQuestion: next and more", "Paris.\n\nQuestion: next", 6),
    ],
    ids=str,
)
def test_a_reply_ends_before_its_stop_string(
    pieces: Sequence[bytes], stops: Any, text: str, tokens: int, shares: bool, tmp_path: Path
) -> None:
    response = said(tmp_path, pieces, shares, stops)
    assert (response.text, response.output_tokens, response.finish_reason) == (text, tokens, "stop")


@pytest.mark.parametrize(
    ("room", "text", "reason"),
    [
        (1, "caf", "length"),
        (2, "caf\ufffd", "length"),
        (3, "café ", "length"),
        (6, "café 🍰!", "length"),
        (7, "café 🍰!", "stop"),
    ],
    ids=str,
)
def test_a_reply_has_no_more_tokens_than_its_room(
    room: int, text: str, reason: str, shares: bool, tmp_path: Path
) -> None:
    response = said(tmp_path, CAFE, shares, "~", room=room)
    assert (response.text, response.output_tokens, response.finish_reason) == (text, room, reason)


def test_a_stop_string_with_the_last_token_of_the_room_is_a_stop(shares: bool, tmp_path: Path) -> None:
    response = said(tmp_path, PARIS, shares, "\n\n", room=3)
    assert (response.text, response.output_tokens, response.finish_reason) == ("Paris.", 3, "stop")


def test_a_reply_may_be_empty(shares: bool, successor: HFModel) -> None:
    model = load(Path(successor.facts.source), prefix_sharing=shares)
    (response,) = model.generate(reply_packet(["c"], Generation(max_new_tokens=5, stop=())))
    assert (response.text, response.output_tokens, response.finish_reason) == ("", 1, "stop")


def test_every_end_id_of_model_and_tokenizer_ends_a_reply(shares: bool, successor: HFModel) -> None:
    model = load(Path(successor.facts.source), max_length=128, prefix_sharing=shares)
    how = Generation(max_new_tokens=64, stop=())
    (alone,) = model.generate(reply_packet(["a"], how))
    assert (alone.text, alone.output_tokens, alone.finish_reason) == ("bc", 3, "stop")
    batch = model.generate(reply_packet(["a", "c", "b", "s"], how))
    assert [response.text for response in batch] == ["bc", "", "c", "tuv"]
    assert [response.output_tokens for response in batch] == [3, 1, 2, 5]
    assert {response.finish_reason for response in batch} == {"stop"}


@pytest.mark.parametrize(("given", "text"), [(8, "bcdef"), ([8, 7], "bcde"), ([20], "bcdefghijklmnopqr")], ids=str)
def test_end_ids_of_the_run_replace_the_models(given: Any, text: str, shares: bool, successor: HFModel) -> None:
    model = load(Path(successor.facts.source), max_length=128, prefix_sharing=shares)
    how = Generation(max_new_tokens=40, stop=(), extra={"eos_token_id": given})
    assert [response.text for response in model.generate(reply_packet(["a"], how))] == [text]
    # The tokenizer's own ends a reply in any case.
    (last,) = model.generate(reply_packet(["t"], replace(how, extra={"eos_token_id": [2]})))
    assert (last.text, last.finish_reason) == ("uv", "stop")


def test_rooms_of_one_packet_may_differ(shares: bool, tiny_folder: Path) -> None:
    model = load(tiny_folder, max_length=128, prefix_sharing=shares)
    rooms = (1, 9, 3, 5)
    packet = reply_packet(["The ferry", "Wood", "The ferry", "Wood burns"], Generation(max_new_tokens=9, stop=()))
    mixed = replace(
        packet,
        instances=tuple(
            replace(one, generation=Generation(max_new_tokens=room, stop=()))
            for one, room in zip(packet.instances, rooms, strict=True)
        ),
    )
    found = model.generate(mixed)
    assert [response.output_tokens for response in found] == list(rooms)
    alone = [model.generate(reordered(mixed, [at]))[0] for at in range(len(rooms))]
    assert found == alone


@pytest.mark.parametrize("n", [1, 4])
def test_n_samples_are_n_replies(n: int, shares: bool, uniform: HFModel) -> None:
    model = load(Path(uniform.facts.source), prefix_sharing=shares)
    how = Generation(max_new_tokens=8, stop=(), do_sample=True, temperature=0.7)
    responses = model.generate(reply_packet(["a", "b", "c"], how, repeats=n))
    assert [(one.key.doc, one.key.repeat) for one in responses] == [(doc, at) for doc in range(3) for at in range(n)]
    assert len({one.text for one in responses}) == 3 * n


SAMPLED = Generation(max_new_tokens=12, stop=("e",), do_sample=True, temperature=1.0, top_p=0.9)


def test_sampled_replies_are_the_same_in_any_batch_of_either_engine(tiny_folder: Path) -> None:
    prompts = ["The ferry", "Wood burns, iron", "The ferry leaves at nine and", "The"]
    packet = reply_packet(prompts, SAMPLED, repeats=3)
    backwards = reordered(packet, range(len(packet.instances))[::-1])
    expected = by_key(load(tiny_folder, max_length=128).generate(packet))
    for fields in (
        {"batch_size": 1},
        {"batch_size": 2},
        {"batch_tokens": 16},
        {"prefix_sharing": False},
        {"prefix_sharing": False, "batch_size": 2},
    ):
        model = load(tiny_folder, max_length=128, **fields)
        assert by_key(model.generate(backwards)) == expected, fields
