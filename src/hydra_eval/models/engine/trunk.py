"""A causal model that runs prefix trees: one forward pass, whatever is asked after what they share."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from hydra_eval.models.encoding import Ids
from hydra_eval.models.engine.attention import Sight, see_tree
from hydra_eval.models.engine.caches import Pair, after, fresh_of, joined
from hydra_eval.models.engine.together import KERNEL, Common
from hydra_eval.models.engine.tree import Tree, common_start, plan_trees
from hydra_eval.models.head import LogitSlices
from hydra_eval.models.kernels import attending_by

LONG_START = 2048
"""Tokens from which on the common start of a tree is run by itself: the mask of a tree grows with its square."""


@dataclass(frozen=True, slots=True)
class Prefix:
    """The start of many sequences, run once."""

    ids: Ids
    layers: Sequence[Pair]

    def __len__(self) -> int:
        return len(self.ids)

    def part(self, layer: int, part: int) -> Tensor | None:
        """A layer's keys (0) or values (1); None where the prefix is empty."""
        return self.layers[layer][part] if self.layers else None


NO_PREFIX = Prefix((), ())


class Trunk:
    """Forward passes over trees."""

    def __init__(self, model: Any, sight: Sight, logit_slices: LogitSlices, *, attends_together: bool = False) -> None:
        self.model = model
        self.attends_together = attends_together
        """Rows can be taken one token further behind a prefix that they have in common."""
        self.sight = sight
        self.logit_slices = logit_slices
        self.layers = int(model.config.get_text_config().num_hidden_layers)
        # transformers renames this argument in the course of version 5.
        renamed = "cache" in inspect.signature(model.base_model.forward).parameters
        self._cache_name = "cache" if renamed else "past_key_values"

    @property
    def device(self) -> torch.device:
        return self.model.device  # type: ignore[no-any-return]

    def run_prefix(self, ids: Ids) -> Prefix:
        """Keys and values of a sequence that others begin with. The model masks it itself, with its fastest kernel."""
        if not ids:
            return NO_PREFIX
        cache = after(None, self.layers)
        positions = torch.arange(len(ids), device=self.device)[None]
        self.model.base_model(input_ids=self.row(ids), position_ids=positions, **self.cached(cache))
        return Prefix(ids, fresh_of(cache))

    def logits(self, tree: Tree, chosen: Tensor, prefix: Prefix) -> Iterator[Tensor]:
        """Slices [n, vocabulary] of the logits of the nodes where `chosen` [nodes] is true, in their order."""
        if tree.is_chain and not prefix.ids:
            return self.logit_slices(self.row(tree.tokens), chosen[None].to(self.device))
        return self._logits(tree, chosen, prefix, after(prefix.layers, self.layers) if prefix.ids else None)

    def logits_and_keys(self, tree: Tree, chosen: Tensor, prefix: Prefix) -> tuple[Tensor, list[Pair]]:
        """(logits [chosen, vocabulary], keys and values of the tree's nodes, layer by layer)."""
        cache = after(prefix.layers, self.layers)
        logits = torch.cat(list(self._logits(tree, chosen, prefix, cache)))
        return logits, fresh_of(cache)

    def _logits(self, tree: Tree, chosen: Tensor, prefix: Prefix, cache: Any) -> Iterator[Tensor]:
        inputs = self._inputs(tree, prefix, cache)
        return self.logit_slices(self.row(tree.tokens), chosen[None].to(self.device), **inputs)

    def _inputs(self, tree: Tree, prefix: Prefix, cache: Any) -> dict[str, Any]:
        """What a forward pass over a tree is given besides its tokens."""
        inputs: dict[str, Any] = {"position_ids": torch.from_numpy(tree.depths).to(self.device)[None]}
        # What has no branches and nothing before it is masked by the model itself, with its fastest kernel.
        if prefix.ids or not tree.is_chain:
            inputs["attention_mask"] = self.sight.masks(*see_tree(tree, len(prefix), self.device))
        if cache is not None:
            inputs |= self.cached(cache)
        return inputs

    def step_logits(self, tokens: Tensor, chosen: Tensor, common: Prefix, inputs: Mapping[str, Any]) -> Tensor:
        """Logits [rows, vocabulary] after one token [rows, 1] in every row, all of them behind `common`."""
        if not common.ids:
            return torch.cat(list(self.logit_slices(tokens, chosen, **inputs)))
        with attending_by(self.model, KERNEL):
            return torch.cat(list(self.logit_slices(tokens, chosen, common=Common(common.layers), **inputs)))

    def cached(self, cache: Any) -> dict[str, Any]:
        """What hands a cache to the model."""
        return {self._cache_name: cache, "use_cache": True}

    def row(self, ids: Any) -> Tensor:
        """Ids [1, length] where the model is."""
        return torch.as_tensor(ids, dtype=torch.long, device=self.device)[None]

    def past_long_start(self, tree: Tree, prefix: Prefix, *, own: int) -> tuple[Tree, Prefix]:
        """The same sequences behind a longer prefix, where what they begin with is long enough to be run by itself.

        Each keeps its last `own` tokens in the tree.
        """
        start = min(common_start(tree.paths), min(map(len, tree.paths)) - own)
        if start - len(prefix) < LONG_START:
            return tree, prefix
        first = next(iter(tree.paths))
        (shorter,) = plan_trees(tree.paths, start=start, budget=len(tree))
        return shorter, self._longer(prefix, first[:start]) if prefix.ids else self.run_prefix(first[:start])

    def _longer(self, prefix: Prefix, ids: Ids) -> Prefix:
        """A prefix that goes on, so that only the rest of `ids` is run: part by part, to keep masks small."""
        for end in [*range(len(prefix) + LONG_START, len(ids), LONG_START), len(ids)]:
            (chain,) = plan_trees([ids[:end]], start=len(prefix), budget=LONG_START)
            cache = after(prefix.layers, self.layers)
            self.model.base_model(input_ids=self.row(chain.tokens), **self._inputs(chain, prefix, cache))
            prefix = Prefix(ids[:end], joined(prefix.layers, fresh_of(cache)))
        return prefix
