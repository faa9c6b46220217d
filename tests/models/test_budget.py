from __future__ import annotations

from typing import Any

import pytest
from transformers import GPT2Config, LlamaConfig

from hydra_eval.config.schema import ModelConfig
from hydra_eval.models.batching import Budget
from hydra_eval.models.budget import Shape, auto_tokens, budget_of, longest_together, shape_of

SMALL = Shape(hidden=640, inner=2048, layers=18, cached=512, bytes=2)
LARGE = Shape(hidden=8192, inner=28672, layers=80, cached=2048, bytes=2)
GIB = 2**30


@pytest.mark.parametrize(
    ("shape", "memory", "tokens"),
    [(SMALL, None, 1024), (LARGE, None, 1024), (SMALL, 139 * GIB, 8192), (LARGE, 16 * GIB, 2048), (LARGE, GIB, 512)],
)
def test_tokens_go_by_shape_and_memory(shape: Shape, memory: int | None, tokens: int) -> None:
    assert auto_tokens(shape, memory) == tokens


def test_the_shape_is_read_from_configs_of_either_naming() -> None:
    llama: dict[str, Any] = {"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 3}
    config = LlamaConfig(**llama, num_attention_heads=8, num_key_value_heads=2)
    assert shape_of(config, "bfloat16") == Shape(hidden=64, inner=96, layers=3, cached=2 * 2 * 8, bytes=2)
    other = shape_of(GPT2Config(n_embd=64, n_layer=3, n_head=8), "auto")
    assert other == Shape(hidden=64, inner=256, layers=3, cached=2 * 64, bytes=4)


ROPES: dict[str, tuple[dict[str, Any], int | None]] = {
    "default": ({"rope_type": "default"}, None),
    "yarn": ({"rope_type": "yarn", "factor": 2.0, "original_max_position_embeddings": 256}, None),
    "dynamic": ({"rope_type": "dynamic", "factor": 2.0}, 511),
    "longrope": (
        {
            **{"rope_type": "longrope", "short_factor": [1.0] * 8, "long_factor": [2.0] * 8},
            "original_max_position_embeddings": 256,
        },
        255,
    ),
}


@pytest.mark.parametrize(("rope", "most"), ROPES.values(), ids=ROPES)
def test_positions_that_hang_on_the_longest_of_a_pass_are_known(rope: dict[str, Any], most: int | None) -> None:
    config = LlamaConfig(
        hidden_size=64,
        num_attention_heads=4,
        max_position_embeddings=512,
        rope_parameters={"rope_theta": 1e4, **rope},
    )
    assert longest_together(config) == most


def test_what_is_typed_counts() -> None:
    budget = budget_of(ModelConfig(batch_tokens=99, batch_size=5), SMALL, None)
    assert (budget.tokens, budget.rows, budget.flights(10**6)) == (99, 5, 5)


@pytest.mark.parametrize(("longest", "flights"), [(10, 32), (100, 10), (2000, 1)])
def test_replies_at_once_fit_the_cache(longest: int, flights: int) -> None:
    assert Budget(tokens=1, cached_tokens=1000).flights(longest) == flights
