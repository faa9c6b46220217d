"""What an architecture is: causal, encoder-decoder, or nothing that can be evaluated. No weights here."""

from __future__ import annotations

from typing import Any

from hydra_eval.config.schema import ModelConfig
from hydra_eval.errors import UserError
from hydra_eval.records import Generation

CAUSAL, ENCODER_DECODER = "AutoModelForCausalLM", "AutoModelForSeq2SeqLM"
DECODER_PLACES = ("max_decoder_position_embeddings", "max_position_embeddings")
"""Fields that say how many positions a decoder can hold; where neither is there, they are relative."""
NEEDED = "Give a causal language model or a text-to-text encoder-decoder."


def auto_class(hf_config: Any) -> Any:
    """What loads the weights."""
    import transformers

    return getattr(transformers, ENCODER_DECODER if hf_config.is_encoder_decoder else CAUSAL)


def check_architecture(config: ModelConfig, hf_config: Any) -> None:
    """UserError for a model that gives no likelihood of one text after another, and for options that it cannot take."""
    import transformers

    given, kind = f"model.pretrained={config.pretrained}", type(hf_config).__name__.removesuffix("Config")
    name = ENCODER_DECODER if hf_config.is_encoder_decoder else CAUSAL
    known = {
        CAUSAL: transformers.MODEL_FOR_CAUSAL_LM_MAPPING,
        ENCODER_DECODER: transformers.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING,
    }
    # Code that comes with the weights says what it is.
    if name not in (getattr(hf_config, "auto_map", None) or {}):
        if is_encoder_only(hf_config):
            raise UserError(
                f"{given}: {kind} is an encoder, trained to fill in masked tokens; it has no likelihood of a text that "
                f"follows another. {NEEDED}"
            )
        if type(hf_config) not in known[name]:
            raise UserError(f"{given}: transformers has no {name} for {kind}. {NEEDED}")
    if hf_config.is_encoder_decoder and config.compile:
        raise UserError(f"model.compile={config.compile}: encoder-decoder models are not compiled. Leave it out.")


def is_encoder_only(hf_config: Any) -> bool:
    """Whether every token sees those after it. Transformers would give such a model a causal head all the same."""
    from transformers import MODEL_FOR_MASKED_LM_MAPPING

    sees_back_only = getattr(hf_config, "is_decoder", False) or getattr(hf_config, "causal", False)
    return type(hf_config) in MODEL_FOR_MASKED_LM_MAPPING and not (hf_config.is_encoder_decoder or sees_back_only)


def check_decoder_places(generation: Generation, hf_config: Any, *, task: str) -> None:
    """UserError where an encoder-decoder's reply may have more tokens than its decoder has positions for."""
    found = (getattr(hf_config, name, None) for name in DECODER_PLACES)
    places = next((int(places) for places in found if places is not None), None)
    if hf_config.is_encoder_decoder and places is not None and generation.max_new_tokens > places:
        raise UserError(
            f"{task}: a reply of up to {generation.max_new_tokens} tokens is more than the {places} that the model's "
            "decoder has positions for. Lower generation.max_new_tokens."
        )
