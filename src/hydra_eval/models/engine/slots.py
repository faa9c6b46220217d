"""Replies that are being generated: one row each, of its own length, that leave when they are done.

The keys and values of a prompt come from the tree in which it was run; then each step adds one token to every row.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from transformers.cache_utils import Cache

from hydra_eval.models.engine.attention import see_own_row
from hydra_eval.models.engine.caches import Pair, Slot
from hydra_eval.models.engine.tree import Numbers
from hydra_eval.models.engine.trunk import Prefix, Trunk

GROWTH = 64
"""Tokens by which rows are lengthened at a time: growing by one would copy all keys at each step."""


class Slots:
    """Keys and values of the rows in flight, and the forward pass that takes each of them one token further."""

    def __init__(self, trunk: Trunk) -> None:
        self.trunk = trunk
        self.lengths = torch.zeros(0, dtype=torch.long, device=trunk.device)
        self._layers: list[Pair] = []

    @property
    def room(self) -> int:
        """Tokens that a row can hold."""
        return int(self._layers[0][0].shape[-2]) if self._layers else 0

    def enter(self, paths: Sequence[Numbers], prefix: Prefix, fresh: Sequence[Pair], *, over: Sequence[int]) -> None:
        """A row for each path of a tree that was run behind `prefix`, with `fresh` as its nodes' keys and values.

        The first of them take the places of the rows `over`, which have left; the others stand behind the last row.
        """
        nodes = [torch.from_numpy(path).to(self.trunk.device) for path in paths]
        lengths = self.lengths.new_tensor([len(prefix) + len(path) for path in paths])
        room = max(self.room, int(lengths.max()) + GROWTH)
        self._layers = [
            (
                _placed(_rows_of(keys, prefix.part(layer, 0), nodes, room), self._old(layer, 0), over),
                _placed(_rows_of(values, prefix.part(layer, 1), nodes, room), self._old(layer, 1), over),
            )
            for layer, (keys, values) in enumerate(fresh)
        ]
        self.lengths = torch.cat([self.lengths, lengths[len(over) :]])
        self.lengths[list(over)] = lengths[: len(over)]

    def step(self, tokens: Tensor) -> Tensor:
        """Logits [rows, vocabulary] after one more token [rows] in every row."""
        if int(self.lengths.max()) >= self.room:
            room = self.room + GROWTH
            self._layers = [(_lengthened(keys, room), _lengthened(values, room)) for keys, values in self._layers]
        inputs = {
            "attention_mask": self.trunk.sight.masks(*see_own_row(self.lengths, self.room)),
            "position_ids": self.lengths[:, None],
            **self.trunk.cached(Cache(layers=[Slot(pair, self.lengths) for pair in self._layers])),
        }
        chosen = torch.ones(len(tokens), 1, dtype=torch.bool, device=tokens.device)
        logits = torch.cat(list(self.trunk.logit_slices(tokens[:, None], chosen, **inputs)))
        self.lengths = self.lengths + 1
        return logits

    def keep(self, rows: Sequence[int]) -> None:
        """Leave only these rows, in this order."""
        chosen = self.lengths.new_tensor(rows)
        self.lengths = self.lengths[chosen]
        self._layers = [(keys[chosen], values[chosen]) for keys, values in self._layers]

    def _old(self, layer: int, part: int) -> Tensor | None:
        return self._layers[layer][part] if self._layers else None


def _rows_of(fresh: Tensor, before: Tensor | None, nodes: Sequence[Tensor], room: int) -> Tensor:
    """Keys (or values) [rows, heads, room, size], one row per path of a tree.

    `fresh` [1, heads, nodes, size] are the tree's own, `before` [1, heads, prefix, size] those that it stands behind.
    """
    _, heads, _, size = fresh.shape
    made = fresh.new_zeros(len(nodes), heads, room, size)
    start = 0 if before is None else before.shape[-2]
    for row, path in enumerate(nodes):
        if before is not None:
            made[row, :, :start] = before[0]
        made[row, :, start : start + len(path)] = fresh[0, :, path.to(fresh.device)]
    return made


def _placed(made: Tensor, old: Tensor | None, over: Sequence[int]) -> Tensor:
    """All rows once those that were `made` have come in: the first of them over rows that have left."""
    if old is None:
        return made
    old = _lengthened(old, made.shape[-2])
    old[list(over)] = made[: len(over)]
    return torch.cat([old, made[len(over) :]]) if len(made) > len(over) else old


def _lengthened(part: Tensor, room: int) -> Tensor:
    rows, heads, length, size = part.shape
    return part if length >= room else torch.cat([part, part.new_zeros(rows, heads, room - length, size)], dim=-2)
