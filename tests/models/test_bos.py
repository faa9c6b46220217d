"""A model gets one beginning-of-sequence token where it wants one, whoever writes it; counted on what is embedded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hydra_eval.models.chat import chat_renderer
from hydra_eval.models.hf import HFModel
from hydra_eval.records import Generation

from .asking import reply_packet, scoring_packet
from .building import CHAT, load

RAW, SPOKEN, EMPTY = "raw", "chat", "empty"
CASES: dict[str, tuple[str, bool | None, str, int]] = {
    "raw": ("tinybos", None, RAW, 1),
    "raw, off": ("tinybos", False, RAW, 0),
    "raw, on": ("tinybos", True, RAW, 1),
    "chat": ("tinybos", None, SPOKEN, 1),
    "chat, off": ("tinybos", False, SPOKEN, 1),
    "chat, on": ("tinybos", True, SPOKEN, 1),
    "empty": ("tinybos", None, EMPTY, 1),
    "empty, off": ("tinybos", False, EMPTY, 1),
    "empty, on": ("tinybos", True, EMPTY, 1),
    "raw, no BOS": ("tiny", None, RAW, 0),
    "raw, no BOS, off": ("tiny", False, RAW, 0),
    "raw, no BOS, on": ("tiny", True, RAW, 1),
    "chat, no BOS, on": ("tiny", True, SPOKEN, 1),
    "chat, no BOS": ("tiny", None, SPOKEN, 1),
    "empty, no BOS": ("tiny", None, EMPTY, 1),
}
"""Name → (model, model.add_bos_token, prompt, BOS tokens that the model gets)."""


def embedded(model: HFModel) -> list[int]:
    """A list that gets every id that the model reads."""
    seen: list[int] = []
    embeddings = model.model.get_input_embeddings()
    embeddings.register_forward_pre_hook(lambda module, inputs: seen.extend(inputs[0].flatten().tolist()))
    return seen


def context(kind: str, tokenizer: Any) -> str:
    if kind == EMPTY:
        return ""
    if kind == RAW:
        return "Question: Which of these floats?"
    tokenizer.chat_template = CHAT
    return chat_renderer(tokenizer, True, {})([{"role": "user", "content": "Which floats?"}], True)


@pytest.mark.parametrize("path", ["likelihood", "generation"])
@pytest.mark.parametrize(("name", "adds", "kind", "count"), CASES.values(), ids=CASES)
def test_beginnings_that_the_model_reads(
    name: str, adds: bool | None, kind: str, count: int, path: str, request: pytest.FixtureRequest
) -> None:
    folder: Path = request.getfixturevalue(f"{name}_folder")
    model = load(folder, max_length=128, add_bos_token=adds)
    seen, prompt = embedded(model), context(kind, model.tokenizer)
    if path == "likelihood":
        responses = model.loglikelihood(scoring_packet([(prompt, " a cork")]))
    else:
        responses = model.generate(reply_packet([prompt], Generation(max_new_tokens=1, stop=())))
    assert seen.count(model.tokenizer.bos_token_id) == count
    assert responses[0].input_ids.count(model.tokenizer.bos_token_id) == count
