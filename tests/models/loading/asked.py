"""The same few questions to models that were loaded in several ways, and what they say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import LlamaForCausalLM

from hydra_eval.config.schema import ModelConfig
from hydra_eval.errors import UserError
from hydra_eval.models import load_tokenizer
from hydra_eval.models.hf import HFModel

from ..asking import scoring_packet

PAIRS = [
    ("Which of these floats on water?", " a cork"),
    ("Which of these floats on water?", " the stone"),
    ("How many legs do three hens have?", " six legs"),
    ("", "The ferry leaves at nine"),
]


def scores(model: HFModel) -> list[float]:
    """Of the four, in nats."""
    return [float(response.logprob or 0) for response in model.loglikelihood(scoring_packet(PAIRS))]


def changed_weights(folder: Path, target: Path, *, scale: float, **fields: Any) -> Path:
    """A checkpoint like that in `folder`, of weights drawn by chance; `fields` change its config."""
    config = LlamaForCausalLM.config_class.from_pretrained(folder)
    for name, value in fields.items():
        setattr(config, name, value)
    with torch.random.fork_rng():
        torch.manual_seed(11)
        model = LlamaForCausalLM(config)
        for weight in model.parameters():
            torch.nn.init.normal_(weight, std=scale)
    model.save_pretrained(target)
    for file in folder.glob("tokenizer*"):
        (target / file.name).write_bytes(file.read_bytes())
    return target


def refused(folder: Path, message: str, **fields: Any) -> None:
    """The options are refused before any weight is read, and in these words."""
    with pytest.raises(UserError, match=message):
        load_tokenizer(ModelConfig(**{"pretrained": str(folder)} | fields))
