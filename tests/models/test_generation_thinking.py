"""Reasoning kept apart from answers, by both engines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from hydra_eval.models.hf import HFModel
from hydra_eval.records import Generation, Response

from .asking import reply_packet
from .building import load, save_rigged, save_tiny, successor_logits

ENGINES = pytest.mark.parametrize("shares", [True, False], ids=["tree", "plain"])


def answers(model: HFModel, prompts: list[str], *stops: str, room: int = 12, **fields: Any) -> list[Response]:
    return model.generate(reply_packet(prompts, Generation(max_new_tokens=room, stop=stops, **fields)))


@pytest.fixture(scope="module")
def alphabet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """After each letter the next one; after "v" comes "<s>", and then "a" again. Nothing ends a reply."""
    logits = successor_logits(24)
    logits[0] = torch.eye(24)[2] * 50
    return save_rigged(tmp_path_factory.mktemp("alphabet"), logits)


@ENGINES
@pytest.mark.parametrize(
    ("marker", "prompt", "reasoning", "answer", "tokens"),
    [
        ("fg", "a", "bcdefg", "hij", 11),
        (7, "a", "bcdef", "ghij", 11),
        ("<s>", "t", "uv<s>", "ab", 7),
        (0, "t", "uv<s>", "ab", 7),
        ("v<s>a", "t", "uv<s>a", "b", 7),
    ],
    ids=str,
)
def test_stop_strings_count_after_the_marker(
    marker: Any, prompt: str, reasoning: str, answer: str, tokens: int, shares: bool, alphabet: Path
) -> None:
    model = load(alphabet, think_end_token=marker, prefix_sharing=shares)
    (response,) = answers(model, [prompt], "cd", "kl", "u")
    assert (response.reasoning, response.text, response.output_tokens) == (reasoning, answer, tokens)


@ENGINES
def test_rows_reason_each_for_itself(shares: bool, alphabet: Path) -> None:
    model = load(alphabet, think_end_token="gh", prefix_sharing=shares)
    found = answers(model, ["a", "e", "g", "h"], "ij", "mn")
    assert [response.reasoning for response in found] == ["bcdefgh", "fgh", None, None]
    # The last two meet no marker within their room: a stop ends none of them, and cuts their text all the same.
    assert [response.text for response in found] == ["", "", "h", ""]
    assert [response.output_tokens for response in found] == [9, 5, 12, 12]
    assert [response.finish_reason for response in found] == ["stop", "stop", "length", "length"]


@ENGINES
def test_an_end_of_sequence_ends_reasoning(shares: bool, successor: HFModel) -> None:
    model = load(Path(successor.facts.source), think_end_token="gh", prefix_sharing=shares)
    (response,) = answers(model, ["a"], "b")
    assert (response.reasoning, response.text, response.finish_reason, response.output_tokens) == (None, "", "stop", 3)


def test_beams_reason_too(alphabet: Path) -> None:
    (response,) = answers(load(alphabet, think_end_token="fg"), ["a"], "cd", "ij", extra={"num_beams": 3})
    assert (response.reasoning, response.text) == ("bcdefg", "h")


def test_both_engines_part_sampled_replies_alike(tiny_folder: Path) -> None:
    prompts = ["The ferry", "Wood burns", "She walked to"]
    generation = Generation(max_new_tokens=60, stop=("e", "s"), do_sample=True, temperature=1.0)
    packet = reply_packet(prompts, generation, repeats=4)
    tree, plain = (
        load(tiny_folder, max_length=128, think_end_token="a", prefix_sharing=shares).generate(packet)
        for shares in (True, False)
    )
    assert tree == plain
    reasoned = [one.reasoning for one in tree if one.reasoning is not None]
    assert reasoned and any("e" in reasoning for reasoning in reasoned)


PROMPTS = ["Question: Which of these floats on water? Answer:", "The ferry", "She walked to the market, " * 4]


@pytest.mark.parity
@pytest.mark.parametrize(
    ("marker", "stop"),
    [("Qu", "vo"), (" leaves", "~~"), ("e", "~~"), ("nowhere", "re"), (116, "~~"), ("65", "~~")],
    ids=str,
)
def test_answers_are_those_of_lm_eval(marker: Any, stop: str, tmp_path: Path) -> None:
    pytest.importorskip("lm_eval.models.huggingface", reason="needs the parity extra")
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    folder = save_tiny(tmp_path)
    options = {"device": "cpu", "dtype": "float32", "batch_size": 3, "max_length": 128, "think_end_token": marker}
    arguments = [(prompt, {"until": [stop], "max_gen_toks": 20}) for prompt in PROMPTS]
    requests = [Instance(request_type="generate_until", doc={}, arguments=args, idx=0) for args in arguments]
    theirs = HFLM(pretrained=str(folder), **options).generate_until(requests, disable_tqdm=True)
    found = answers(load(folder, max_length=128, think_end_token=marker), PROMPTS, stop, room=20)
    assert [response.text for response in found] == theirs
