"""How much one forward pass may hold: as the config says, else by the model's shape and the device's memory.

Never by trying: the same model on the same kind of device has the same budget, so that its packets are the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hydra_eval.config.schema import AUTO, ModelConfig
from hydra_eval.models.batching import MOST_FLIGHTS, Budget

CPU_TOKENS = 1024
"""More make a forward pass no faster there."""
CPU_CACHE_BYTES = 2**31
GPU_TOKENS = (512, 8192)
"""Least and most: beyond, the mask of a tree costs more than what a fuller pass saves."""
GPU_FLIGHTS = 256
PASS_SHARE = 0.1
"""Of the device's memory, for what one forward pass makes."""
CACHE_SHARE = 0.2
"""For keys and values of replies; twice that while rows come and go."""
STRETCHED = ("dynamic", "longrope")
KNOWN_BYTES = {"float64": 8, "float32": 4}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What of a model's size decides how much memory its tokens take."""

    hidden: int
    inner: int
    layers: int
    cached: int
    """Numbers per layer and token in its keys and values."""
    bytes: int
    """Of one number."""

    @property
    def pass_bytes(self) -> int:
        """Of one token in a forward pass: a few hidden states, the widest product and what goes into it."""
        return self.bytes * (8 * self.hidden + 3 * self.inner) + self.cache_bytes

    @property
    def cache_bytes(self) -> int:
        return self.bytes * self.layers * self.cached


def shape_of(hf_config: Any, dtype: str) -> Shape:
    """From the config of an architecture, whose fields differ in name; what is missing is taken from the usual."""
    config = hf_config.get_text_config()
    hidden = int(config.hidden_size)
    heads = int(getattr(config, "num_attention_heads", None) or 1)
    pairs = int(getattr(config, "num_key_value_heads", None) or heads)
    size = int(getattr(config, "head_dim", None) or hidden // heads)
    named = dtype if dtype != AUTO else str(getattr(hf_config, "dtype", None) or "float32").removeprefix("torch.")
    return Shape(
        hidden=hidden,
        inner=int(getattr(config, "intermediate_size", None) or 4 * hidden),
        layers=int(config.num_hidden_layers),
        cached=2 * pairs * size,
        bytes=KNOWN_BYTES.get(named, 2),
    )


def budget_of(config: ModelConfig, shape: Shape, memory: int | None) -> Budget:
    """`memory`: bytes that the GPU has in all; None: the CPU."""
    cache = CPU_CACHE_BYTES if memory is None else int(CACHE_SHARE * memory)
    return Budget(
        tokens=auto_tokens(shape, memory) if config.batch_tokens == AUTO else config.batch_tokens,
        rows=config.batch_size,
        cached_tokens=cache // shape.cache_bytes,
        most_flights=MOST_FLIGHTS if memory is None else GPU_FLIGHTS,
    )


def longest_together(hf_config: Any) -> int | None:
    """Most tokens of a sequence whose rotary positions do not hang on how long the others of its pass are.

    Some kinds of positions are stretched for a whole pass once any of its sequences is longer than those that the model
    was first trained on. None: of no such kind.
    """
    config = hf_config.get_text_config()
    rope = getattr(config, "rope_parameters", None) or {}
    listed = [rope, *(part for part in rope.values() if isinstance(part, dict))]
    limits = [
        int(part.get("original_max_position_embeddings") or config.max_position_embeddings)
        for part in listed
        if part.get("rope_type") in STRETCHED
    ]
    # Of just so many, what a longer pass has left behind may still be there.
    return min(limits) - 1 if limits else None


def auto_tokens(shape: Shape, memory: int | None) -> int:
    """Tokens of one forward pass; on a GPU a power of two."""
    if memory is None:
        return CPU_TOKENS
    least, most = GPU_TOKENS
    fitting = int(PASS_SHARE * memory) // shape.pass_bytes
    return min(most, max(least, 1 << max(0, fitting.bit_length() - 1)))


def device_memory(device: str) -> int | None:
    """Bytes that a GPU has in all, whoever uses them now; None for the CPU."""
    import torch

    return int(torch.cuda.get_device_properties(device).total_memory) if device.startswith("cuda") else None
