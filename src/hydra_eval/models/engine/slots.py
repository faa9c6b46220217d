"""Replies that are being generated: one row each, of its own length, that leave when they are done.

The keys and values of a prompt come from the tree in which it was run; then each step adds one token to every row.
What all prompts begin with is kept once, where the model's attention can be given it apart.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from transformers.cache_utils import Cache

from hydra_eval.models.engine.attention import see_own_row
from hydra_eval.models.engine.caches import Pair, Slot
from hydra_eval.models.engine.tree import Numbers
from hydra_eval.models.engine.trunk import NO_PREFIX, Prefix, Trunk

GROWTH = 64
"""Tokens by which rows are lengthened at a time: growing by one would copy all keys at each step."""


class Slots:
    """Keys and values of the rows in flight, and the forward pass that takes each of them one token further."""

    def __init__(self, trunk: Trunk, prefix: Prefix = NO_PREFIX) -> None:
        self.trunk = trunk
        self.common = prefix if trunk.attends_together else NO_PREFIX
        self.lengths = torch.zeros(0, dtype=torch.long, device=trunk.device)
        self._layers: list[Pair] = []

    @property
    def room(self) -> int:
        """Tokens that a row can hold, those in common aside."""
        return int(self._layers[0][0].shape[-2]) if self._layers else 0

    def enter(self, paths: Sequence[Numbers], prefix: Prefix, fresh: Sequence[Pair], *, over: Sequence[int]) -> None:
        """A row for each path of a tree that was run behind `prefix`, with `fresh` as its nodes' keys and values.

        `prefix` begins with what is kept in common.
        The first of them take the places of the rows `over`, which have left; the others stand behind the last row.
        """
        nodes = pad_sequence([torch.from_numpy(path) for path in paths], batch_first=True).to(self.trunk.device)
        lengths = self.lengths.new_tensor([len(prefix) - len(self.common) + len(path) for path in paths])
        room = max(self.room, int(lengths.max()) + GROWTH)
        self._layers = [
            (
                _placed(_rows_of(keys, self._own(prefix, layer, 0), nodes, room), self._old(layer, 0), over),
                _placed(_rows_of(values, self._own(prefix, layer, 1), nodes, room), self._old(layer, 1), over),
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
        positions = self.lengths + len(self.common)
        inputs = {
            "attention_mask": self.trunk.sight.masks(*see_own_row(positions, len(self.common) + self.room)),
            "position_ids": positions[:, None],
            **self.trunk.cached(Cache(layers=[Slot(pair, self.lengths) for pair in self._layers])),
        }
        chosen = torch.ones(len(tokens), 1, dtype=torch.bool, device=tokens.device)
        logits = self.trunk.step_logits(tokens[:, None], chosen, self.common, inputs)
        self.lengths = self.lengths + 1
        return logits

    def keep(self, rows: Sequence[int]) -> None:
        """Leave only these rows, in this order."""
        chosen = self.lengths.new_tensor(rows)
        self.lengths = self.lengths[chosen]
        # Layers may lie on several devices.
        self._layers = [
            (keys[chosen.to(keys.device)], values[chosen.to(values.device)]) for keys, values in self._layers
        ]

    def _own(self, prefix: Prefix, layer: int, part: int) -> Tensor | None:
        """What of a prefix each row keeps by itself."""
        whole = prefix.part(layer, part)
        return None if whole is None else whole[:, :, len(self.common) :]

    def _old(self, layer: int, part: int) -> Tensor | None:
        return self._layers[layer][part] if self._layers else None


def _rows_of(fresh: Tensor, before: Tensor | None, nodes: Tensor, room: int) -> Tensor:
    """Keys (or values) [rows, heads, room, size], one row per path of a tree.

    `fresh` [1, heads, nodes, size] are the tree's own, `before` [1, heads, prefix, size] those that it stands behind.
    `nodes` [rows, longest] are the paths, filled up with any node: what stands behind a row's length is never seen.
    """
    _, heads, _, size = fresh.shape
    made = fresh.new_zeros(len(nodes), heads, room, size)
    start = 0
    if before is not None:
        start = before.shape[-2]
        made[:, :, :start] = before
    made[:, :, start : start + nodes.shape[1]] = fresh[0][:, nodes.to(fresh.device)].transpose(0, 1)
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
