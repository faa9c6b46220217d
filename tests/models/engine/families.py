"""Small random models of several families, and both engines over each."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from transformers import (
    AutoModelForCausalLM,
    BloomConfig,
    Gemma3TextConfig,
    GPT2Config,
    GPTNeoXConfig,
    LlamaConfig,
    MambaConfig,
    MistralConfig,
    OPTConfig,
    Qwen2Config,
    Qwen3Config,
)

from hydra_eval.models.batching import Budget
from hydra_eval.models.engine.probe import find_trunk
from hydra_eval.models.engine.trees import TreeEngine
from hydra_eval.models.engine.trunk import Trunk
from hydra_eval.models.head import find_logit_slices
from hydra_eval.models.plain import PlainEngine

VOCABULARY = 60
WINDOW = 6
"""Tokens that a sliding layer sees."""
SHAPE: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "initializer_range": 0.3,
    "pad_token_id": 0,
}
HALF_SLIDING = ["sliding_attention", "full_attention"] * 2
FAMILIES: dict[str, Any] = {
    "llama": lambda: LlamaConfig(**SHAPE),
    "gemma3": lambda: Gemma3TextConfig(**SHAPE, head_dim=8, sliding_window=WINDOW, layer_types=HALF_SLIDING),
    "gpt2": lambda: GPT2Config(vocab_size=VOCABULARY, n_embd=32, n_layer=3, n_head=4, initializer_range=0.3),
    "qwen2": lambda: Qwen2Config(**SHAPE, use_sliding_window=True, sliding_window=WINDOW, max_window_layers=2),
    "qwen3": lambda: Qwen3Config(**SHAPE, head_dim=8),
    "mistral": lambda: MistralConfig(**SHAPE, sliding_window=WINDOW),
    "opt": lambda: OPTConfig(vocab_size=VOCABULARY, hidden_size=32, ffn_dim=48, num_hidden_layers=2,
                             num_attention_heads=4, max_position_embeddings=128, word_embed_proj_dim=32, init_std=0.3),
    "neox": lambda: GPTNeoXConfig(vocab_size=VOCABULARY, hidden_size=32, intermediate_size=48, num_hidden_layers=2,
                                  num_attention_heads=4, initializer_range=0.3),
}  # fmt: skip
STRANGERS: dict[str, Any] = {
    "bloom": lambda: BloomConfig(vocab_size=VOCABULARY, hidden_size=32, n_layer=2, n_head=4),
    "mamba": lambda: MambaConfig(vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=2, state_size=4),
}
EXACT = ("llama", "gemma3", "gpt2", "qwen2")
"""Those on which everything is tried."""


def build(config: Any) -> Any:
    with torch.random.fork_rng():
        torch.manual_seed(5)
        model = AutoModelForCausalLM.from_config(config).eval()
    model.generation_config.eos_token_id = None
    return model


@cache
def family(name: str) -> Any:
    return build((FAMILIES | STRANGERS)[name]())


def trunk_of(model: Any) -> Trunk:
    trunk = find_trunk(model, find_logit_slices(model))
    assert isinstance(trunk, Trunk), trunk
    return trunk


def plain_engine(name: str, **budget: Any) -> PlainEngine:
    model = family(name)
    return PlainEngine(model, find_logit_slices(model), Budget(**{"tokens": 400} | budget), torch.float32)


def tree_engine(name: str, **budget: Any) -> TreeEngine:
    plain = plain_engine(name, **budget)
    return TreeEngine(trunk_of(plain.model), plain, plain.budget)
