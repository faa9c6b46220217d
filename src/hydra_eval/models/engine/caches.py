"""Keys and values of one forward pass, kept where the next can use them. They plug into transformers' attention."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import torch
from torch import Tensor
from transformers.cache_utils import Cache, DynamicLayer

Pair: TypeAlias = tuple[Tensor, Tensor]
"""Keys and values of one layer, each [rows, heads, tokens, size]."""


class AfterPrefix(DynamicLayer):  # type: ignore[misc]
    """Puts a prefix's keys before the new ones, and remembers the new ones without growing."""

    def __init__(self, prefix: Pair | None) -> None:
        super().__init__()
        self.prefix = prefix
        self.fresh: Pair | None = None
        self.is_initialized = True

    def update(self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any) -> Pair:
        self.fresh = (key_states, value_states)
        if self.prefix is None:
            return self.fresh
        keys, values = self.prefix
        return torch.cat([keys, key_states], dim=-2), torch.cat([values, value_states], dim=-2)

    def get_seq_length(self) -> int:
        return 0 if self.prefix is None else self.prefix[0].shape[-2]


class Slot(DynamicLayer):  # type: ignore[misc]
    """Rows of several lengths [rows] side by side, each flush left; a new token goes behind its row's last one."""

    def __init__(self, pair: Pair, lengths: Tensor) -> None:
        super().__init__()
        self.keys, self.values = pair
        self.lengths = lengths
        self.is_initialized = True

    def update(self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any) -> Pair:
        rows, places = torch.arange(len(key_states), device=key_states.device), self.lengths.to(key_states.device)
        self.keys[rows, :, places] = key_states[:, :, 0]
        self.values[rows, :, places] = value_states[:, :, 0]
        return self.keys, self.values

    def get_seq_length(self) -> int:
        return int(self.keys.shape[-2])


def after(prefix: Sequence[Pair] | None, layers: int) -> Cache:
    """A cache for one forward pass behind `prefix`."""
    return Cache(layers=[AfterPrefix(prefix[layer] if prefix else None) for layer in range(layers)])


def fresh_of(cache: Cache) -> list[Pair]:
    """What the pass through an `after` cache has made, layer by layer."""
    return [layer.fresh for layer in cache.layers]


def joined(before: Sequence[Pair], fresh: Sequence[Pair]) -> list[Pair]:
    """Keys and values of two parts of one sequence, layer by layer."""
    return [
        (torch.cat([old_keys, keys], dim=-2), torch.cat([old_values, values], dim=-2))
        for (old_keys, old_values), (keys, values) in zip(before, fresh, strict=True)
    ]
