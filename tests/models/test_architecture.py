from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from transformers import (
    BartConfig,
    BertConfig,
    DistilBertConfig,
    GPT2Config,
    ModernBertConfig,
    RobertaConfig,
    T5Config,
    ViTConfig,
    WhisperConfig,
)

from hydra_eval.config.schema import ModelConfig
from hydra_eval.errors import UserError
from hydra_eval.models.architecture import auto_class, check_architecture

CONFIG = ModelConfig(pretrained="org/name")
REFUSED: dict[str, tuple[Any, str]] = {
    "masked": (BertConfig, "model.pretrained=org/name: Bert is an encoder, trained to fill in masked tokens"),
    "masked, with a causal head": (RobertaConfig, "Roberta is an encoder"),
    "masked, without one": (DistilBertConfig, "DistilBert is an encoder"),
    "masked, newer": (ModernBertConfig, "ModernBert is an encoder"),
    "pictures": (ViTConfig, "transformers has no AutoModelForCausalLM for ViT. Give a causal language model"),
    "sounds to text": (WhisperConfig, "transformers has no AutoModelForSeq2SeqLM for Whisper"),
}
TAKEN: dict[str, tuple[Any, str]] = {
    "causal": (GPT2Config(), "AutoModelForCausalLM"),
    "encoder-decoder": (T5Config(), "AutoModelForSeq2SeqLM"),
    "half of an encoder-decoder": (BartConfig(is_decoder=True, is_encoder_decoder=False), "AutoModelForCausalLM"),
    "an encoder's layers as a decoder": (BertConfig(is_decoder=True), "AutoModelForCausalLM"),
    "code of its own": (ViTConfig(auto_map={"AutoModelForCausalLM": "mine.Model"}), "AutoModelForCausalLM"),
}


@pytest.mark.parametrize(("kind", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_evaluated_is_refused_by_name(kind: Any, message: str) -> None:
    with pytest.raises(UserError, match=message):
        check_architecture(CONFIG, kind())


@pytest.mark.parametrize(("hf_config", "name"), TAKEN.values(), ids=TAKEN)
def test_what_can_be_evaluated(hf_config: Any, name: str) -> None:
    check_architecture(CONFIG, hf_config)
    assert auto_class(hf_config).__name__ == name


def test_encoder_decoders_are_not_compiled(tmp_path: Path) -> None:
    check_architecture(ModelConfig(pretrained="x", compile=True), GPT2Config())
    with pytest.raises(UserError, match=r"model\.compile=True: encoder-decoder models are not compiled"):
        check_architecture(ModelConfig(pretrained="x", compile=True), T5Config())
