from __future__ import annotations

from typing import Any

import pytest
import torch
from transformers import GenerationConfig, LlamaConfig, T5Config

from hydra_eval.errors import UserError
from hydra_eval.models.trial import check_trial, trial_model
from hydra_eval.records import Generation

CAUSAL = LlamaConfig(vocab_size=50)
ENCODER_DECODER = T5Config(vocab_size=50, decoder_start_token_id=0)
BOTH = pytest.mark.parametrize("architecture", [CAUSAL, ENCODER_DECODER], ids=["causal", "encoder-decoder"])


def tried(architecture: Any, own: dict[str, Any] | None = None, **fields: Any) -> None:
    generation = Generation(**{"max_new_tokens": 9, "stop": (), **fields})
    config = GenerationConfig(**{"decoder_start_token_id": 0, **(own or {})})
    check_trial(trial_model(architecture, config, 50), generation, (1,), task="toy")


@BOTH
@pytest.mark.parametrize(
    "extra",
    [
        {"num_beams": 0},
        {"num_beams": -1},
        {"num_beams": "many"},
        {"num_beams": 3, "num_beam_groups": 3},
        {"repetition_penalty": 0},
        {"repetition_penalty": "1.2"},
        {"bad_words_ids": [[50]]},
        {"bad_words_ids": []},
        {"no_repeat_ngram_size": 1.5},
        {"min_length": "x"},
        {"suppress_tokens": "x"},
        {"cache_implementation": "none such"},
        {"early_stopping": "often", "num_beams": 2},
        {"penalty_alpha": 0.6},
        {"token_healing": True},
    ],
    ids=str,
)
def test_what_transformers_refuses_is_refused_without_weights(architecture: Any, extra: dict[str, Any]) -> None:
    with pytest.raises(UserError, match=f"toy: transformers cannot generate with {next(iter(extra))}="):
        tried(architecture, {"top_k": 4}, extra=extra)


@BOTH
@pytest.mark.parametrize(
    "extra",
    [
        {},
        {"num_beams": 3},
        {"repetition_penalty": 1.2, "no_repeat_ngram_size": 3},
        {"bad_words_ids": [[49]], "suppress_tokens": [3]},
        {"min_new_tokens": 300},
        {"renormalize_logits": True},
    ],
    ids=str,
)
def test_what_transformers_takes_passes(architecture: Any, extra: dict[str, Any]) -> None:
    tried(architecture, extra=extra)


@pytest.mark.parametrize("extra", [{"prompt_lookup_num_tokens": 2}, {"guidance_scale": 1.5}], ids=str)
def test_what_only_a_causal_model_can_passes(extra: dict[str, Any]) -> None:
    tried(CAUSAL, extra=extra)


def test_the_models_own_config_is_tried_with_the_tasks_options() -> None:
    tried(CAUSAL, {"num_return_sequences": 3, "do_sample": True, "return_dict_in_generate": True, "stop_strings": "x"})
    tried(CAUSAL, {"num_beams": 4}, do_sample=True, temperature=0.7)
    with pytest.raises(UserError, match=r"over the model's generation_config.json \(ValueError: `penalty`"):
        tried(CAUSAL, {"repetition_penalty": -1.0})


def test_a_trial_leaves_no_trace() -> None:
    before = torch.random.get_rng_state()
    tried(CAUSAL, do_sample=True, temperature=1.0)
    assert torch.equal(before, torch.random.get_rng_state())
