"""Who may look at whom: masks for trees, for what follows a prefix, and for rows of several lengths.

A mask is a boolean tensor [rows, 1, queries, keys], true where a query sees a key. Layers with a sliding window see
fewer keys, so a model may want one mask per kind of layer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
from torch import Tensor

from hydra_eval.models.engine.tree import Tree

Masks: TypeAlias = Tensor | dict[str, Tensor]
FULL, SLIDING = "full_attention", "sliding_attention"


@dataclass(frozen=True, slots=True)
class Sight:
    """How far the layers of a model see."""

    window: int | None
    """Tokens that a sliding layer sees, the query's own among them; None: no layer slides."""
    by_kind: bool
    """The model takes one mask per kind of layer."""
    additive: bool
    """Masks are added to the scores (0, or the least number) where a kernel wants that."""
    dtype: torch.dtype

    def masks(self, sees: Tensor, distance: Tensor) -> Masks:
        """`sees` [rows, queries, keys] without any window; `distance` [rows, queries, keys] from key to query."""
        full = self._formed(sees)
        if self.window is None:
            return {FULL: full} if self.by_kind else full
        near = self._formed(sees & (distance < self.window))
        return {FULL: full, SLIDING: near} if self.by_kind else near

    def _formed(self, sees: Tensor) -> Tensor:
        mask = sees[:, None]
        if not self.additive:
            return mask
        return torch.zeros_like(mask, dtype=self.dtype).masked_fill_(~mask, torch.finfo(self.dtype).min)


def find_sight(model: Any) -> Sight | str:
    """How far `model` sees, or why that cannot be told."""
    config = model.config.get_text_config()
    kernel = getattr(config, "_attn_implementation", None)
    if kernel not in ("sdpa", "eager"):
        return f"attention by {kernel} takes no mask of its own"
    kinds = set(getattr(config, "layer_types", None) or ())
    if kinds - {FULL, SLIDING}:
        return f"layers of kind {', '.join(sorted(kinds - {FULL, SLIDING}))}"
    window = getattr(config, "sliding_window", None)
    return Sight(
        window=window if SLIDING in kinds or not kinds else None,
        by_kind=SLIDING in kinds,
        additive=kernel == "eager",
        dtype=model.dtype,
    )


def see_tree(tree: Tree, prefix: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """(sees, distance), each [1, nodes, prefix + nodes]: a node sees the whole prefix, its ancestors and itself."""
    ends = torch.from_numpy(tree.ends).to(device)
    depths = torch.from_numpy(tree.depths).to(device)
    places = torch.arange(len(tree), device=device)
    above = (places[:, None] >= places) & (places[:, None] < ends)
    sees = torch.cat([above.new_ones(len(tree), prefix), above], dim=1)
    keys = torch.cat([torch.arange(prefix, device=device), depths])
    return sees[None], (depths[:, None] - keys)[None]


def see_own_row(lengths: Tensor, room: int) -> tuple[Tensor, Tensor]:
    """(sees, distance), each [rows, 1, room]: the token at place `lengths` sees itself and its row's earlier ones."""
    distance = (lengths[:, None] - torch.arange(room, device=lengths.device))[:, None]
    return distance >= 0, distance
