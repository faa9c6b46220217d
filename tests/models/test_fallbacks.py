"""Causal models that cannot share what their requests begin with: they run plainly, say why once, and are right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM, MambaConfig, OpenAIGPTConfig

from hydra_eval.models.encoding import encode_requests
from hydra_eval.models.hf import HFModel
from hydra_eval.models.plain import PlainEngine
from hydra_eval.records import Generation

from .asking import reply_packet, scoring_packet
from .building import load
from .test_encoding import PAIRS
from .test_generation import PROMPTS

KINDS: dict[str, Any] = {
    "no cache": OpenAIGPTConfig(vocab_size=420, n_embd=48, n_layer=2, n_head=4, n_positions=256, initializer_range=0.3),
    "state space": MambaConfig(
        vocab_size=420, hidden_size=48, num_hidden_layers=2, state_size=4, initializer_range=0.3
    ),
}


@pytest.fixture(scope="module", params=KINDS)
def loaded(
    request: pytest.FixtureRequest, tiny_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[HFModel, list[str]]:
    """(the model, what was logged while it was loaded)."""
    folder = tmp_path_factory.mktemp("stranger")
    for file in tiny_folder.glob("tokenizer*"):
        (folder / file.name).write_bytes(file.read_bytes())
    with torch.random.fork_rng():
        torch.manual_seed(5)
        AutoModelForCausalLM.from_config(KINDS[request.param]).save_pretrained(folder)
    with pytest.MonkeyPatch.context() as patch:
        lines: list[str] = []
        patch.setattr("hydra_eval.models.engines.logger.info", lambda text, *values: lines.append(text % values))
        return load(folder, max_length=128), lines


def test_one_line_says_why(loaded: tuple[HFModel, list[str]]) -> None:
    model, lines = loaded
    (line,) = lines
    reason = model.facts.engine["prefix_sharing"]
    assert isinstance(model.engine, PlainEngine) and isinstance(reason, str)
    assert line == f"{type(model.model).__name__} runs plainly, each request by itself: {reason}."


def test_scores_are_those_of_each_request_alone(loaded: tuple[HFModel, list[str]]) -> None:
    model, _ = loaded
    packet = scoring_packet(PAIRS.values())
    for response, request in zip(
        model.loglikelihood(packet), encode_requests(packet.instances, model.encoder), strict=True
    ):
        (span,) = request.spans
        with torch.inference_mode():
            logits = model.model(torch.tensor([span.inputs])).logits[0, -len(span.target) :]
        logprobs = logits.log_softmax(dim=-1)[range(len(span.target)), span.target]
        assert response.logprob == pytest.approx(float(logprobs.sum()), abs=1e-4, rel=2e-6)


def test_replies_are_those_of_each_request_alone(loaded: tuple[HFModel, list[str]]) -> None:
    model, _ = loaded
    packet = reply_packet(PROMPTS, Generation(max_new_tokens=8, stop=()))
    for response, request in zip(model.generate(packet), encode_requests(packet.instances, model.encoder), strict=True):
        ids = list(request.ids)
        for _ in range(response.output_tokens):
            with torch.inference_mode():
                ids.append(int(model.model(torch.tensor([ids])).logits[0, -1].argmax()))
        assert response.text == model.tokenizer.decode(ids[len(request.ids) :], skip_special_tokens=True)
