"""The model's own generation config applies as it does under transformers' `generate`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
import torch

from hydra_eval.models.hf import HFModel
from hydra_eval.records import Generation

from .asking import reply_packet
from .building import NEVER, load, save_rigged

PROMPTS = ["Question: Which of these floats on water? Answer:", "The ferry", "b", "Wood burns, iron rusts,"]
ROOM = 16
GREEDY = Generation(max_new_tokens=ROOM, stop=())
CONFIGS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "repetition penalty": {"repetition_penalty": 1.8},
    "no repeats": {"no_repeat_ngram_size": 1},
    "penalty on the prompt": {"encoder_repetition_penalty": 1.5},
    "no repeats of the prompt": {"encoder_no_repeat_ngram_size": 1},
    "suppressed": {"suppress_tokens": list(range(2, 300, 3))},
    "suppressed at first": {"begin_suppress_tokens": list(range(2, 300, 2))},
    "bad words": {"bad_words_ids": [[token] for token in range(100, 200)]},
    "sequence bias": {"sequence_bias": [[[300], 8.0], [[301, 302], -5.0]]},
    "least new tokens": {"min_new_tokens": 12, "eos_token_id": [1, *range(2, 90)]},
    "least length": {"min_length": 14, "eos_token_id": [1, *range(2, 90)]},
    "end ids": {"eos_token_id": [1, *range(2, 150)]},
    "forced first": {"forced_bos_token_id": 7},
    "forced last": {"forced_eos_token_id": 9},
    "decay": {"exponential_decay_length_penalty": (4, 1.6)},
    "normalised": {"renormalize_logits": True, "remove_invalid_values": True},
    "beams": {"num_beams": 3, "length_penalty": 0.4, "early_stopping": True},
    "guidance": {"guidance_scale": 1.7},
    "guesses from the prompt": {"prompt_lookup_num_tokens": 3},
    "sampling": {"do_sample": True, "temperature": 0.3, "top_k": 3, "top_p": 0.5},
    "several at once": {"repetition_penalty": 1.3, "no_repeat_ngram_size": 3, "min_new_tokens": 4},
    "what is returned": {"num_beams": 4, "num_return_sequences": 4, "return_dict_in_generate": True},
}


@contextmanager
def configured(model: HFModel, **own: Any) -> Iterator[Any]:
    """The model as if its generation_config.json said so."""
    config = model.model.generation_config
    before = {name: getattr(config, name) for name in own}
    config.update(**own)
    yield model
    config.update(**before)


@torch.inference_mode()
def generated(model: HFModel, prompt: str) -> str:
    """What transformers makes of the prompt by itself, up to the first of the model's end ids."""
    ids = torch.tensor([model.encoder.encode_bare([prompt])[prompt]])
    options = {"max_new_tokens": ROOM, "pad_token_id": 0, "num_return_sequences": 1, "return_dict_in_generate": False}
    made = model.model.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False, **options)
    ends = model.model.generation_config.eos_token_id
    listed = ends if isinstance(ends, list) else [ends]
    reply = takewhile(lambda token: token not in listed, made[0, ids.shape[1] :].tolist())
    return str(model.tokenizer.decode(list(reply), skip_special_tokens=True))


@pytest.fixture(scope="module", params=[True, False], ids=["tree", "plain"])
def model(request: pytest.FixtureRequest, tiny_folder: Path) -> HFModel:
    """Plainly one by one: padding counts for some of transformers' processors."""
    return load(tiny_folder, max_length=128, prefix_sharing=request.param, batch_size=None if request.param else 1)


@pytest.mark.parametrize("own", CONFIGS.values(), ids=CONFIGS)
def test_greedy_replies_are_those_of_generate(own: dict[str, Any], model: HFModel) -> None:
    with configured(model, **own):
        found = [response.text for response in model.generate(reply_packet(PROMPTS, GREEDY))]
        assert found == [generated(model, prompt) for prompt in PROMPTS]


def test_these_configs_change_replies(model: HFModel) -> None:
    plain = [response.text for response in model.generate(reply_packet(PROMPTS, GREEDY))]
    unchanged = {"nothing", "sampling", "normalised", "guesses from the prompt"}
    for name in CONFIGS.keys() - unchanged:
        with configured(model, **CONFIGS[name]):
            assert [response.text for response in model.generate(reply_packet(PROMPTS, GREEDY))] != plain, name


def test_stop_strings_of_the_model_count(model: HFModel) -> None:
    (before,) = model.generate(reply_packet(PROMPTS[:1], GREEDY))
    assert before.text and "ks" in before.text
    with configured(model, stop_strings=["ks"]):
        (now,) = model.generate(reply_packet(PROMPTS[:1], GREEDY))
    assert (now.text, now.finish_reason) == (before.text.partition("ks")[0], "stop")


@pytest.mark.parametrize(
    ("own", "fields", "expected"),
    [
        ({"do_sample": True, "temperature": 0.5}, {"temperature": None}, {"a": 36 / 46, "b": 9 / 46, "c": 1 / 46}),
        ({"do_sample": True, "temperature": 0.5}, {"temperature": 1.0}, {"a": 0.6, "b": 0.3, "c": 0.1}),
        ({"top_k": 2}, {"temperature": None}, {"a": 2 / 3, "b": 1 / 3}),
        ({"top_k": 2}, {"temperature": 1.0, "top_k": 3}, {"a": 0.6, "b": 0.3, "c": 0.1}),
        ({"top_p": 0.85}, {"temperature": 1.0}, {"a": 2 / 3, "b": 1 / 3}),
        ({}, {"temperature": None}, {"a": 0.6, "b": 0.3, "c": 0.1}),
        ({"num_beams": 3}, {"temperature": 1.0}, {"a": 0.6, "b": 0.3, "c": 0.1}),
    ],
    ids=str,
)
@pytest.mark.parametrize("shares", [True, False], ids=["tree", "plain"])
def test_what_a_task_does_not_say_of_sampling_is_the_models(
    own: dict[str, Any], fields: dict[str, Any], expected: dict[str, float], shares: bool, tmp_path: Path
) -> None:
    logits = torch.full((5, 5), NEVER)
    logits[:, 2:] = torch.tensor([0.6, 0.3, 0.1]).log()
    generation = Generation(max_new_tokens=50, stop=(), do_sample=True, **fields)
    with configured(load(save_rigged(tmp_path, logits), prefix_sharing=shares), **own) as model:
        replies = model.generate(reply_packet(["a"], generation, repeats=40))
    counts = {letter: "".join(one.text for one in replies).count(letter) / 2000 for letter in expected}
    # Five standard deviations of a count among 2,000 draws are at most 0.056 of them.
    assert sum(counts.values()) == 1 and counts == pytest.approx(expected, abs=0.056)
