"""Log-likelihoods read off prefix trees: each distinct beginning of a packet's sequences is run once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch

from hydra_eval.models.batching import Budget
from hydra_eval.models.efficiency import Efficiency
from hydra_eval.models.encoding import Span
from hydra_eval.models.engine.tree import plan_trees
from hydra_eval.models.engine.trunk import Prefix, Trunk
from hydra_eval.models.likelihood import Row, SpanScore, score_spans


class Reading(NamedTuple):
    """How much one forward pass may hold, and in what the soft-max over its logits is taken."""

    budget: Budget
    dtype: torch.dtype | None


def score_tree_rows(
    rows: Sequence[Row], trunk: Trunk, prefix: Prefix, *, reading: Reading, spent: Efficiency
) -> dict[Span, SpanScore]:
    """The scores of every span. `prefix` is what all rows begin with, outside what they score."""
    by_inputs = {row.inputs: row for row in rows}
    scores: dict[Span, SpanScore] = {}
    for planned in plan_trees(by_inputs, start=len(prefix), budget=reading.budget.tokens, most=reading.budget.rows):
        members = [by_inputs[ids] for ids in planned.paths]
        tree, before = trunk.past_long_start(planned, prefix, own=max(row.scored for row in members))
        nodes = {
            Span(row.inputs, target): torch.from_numpy(tree.paths[row.inputs][-len(target) :])
            for row in members
            for target in row.targets
        }
        chosen = torch.zeros(len(tree), dtype=torch.bool)
        chosen[torch.cat(list(nodes.values()))] = True
        place = chosen.cumsum(0) - 1
        places = {span: place[path] for span, path in nodes.items()}
        scores |= score_spans(trunk.logits(tree, chosen, before), places, reading.dtype)
        spent.logit_positions += int(chosen.sum())
    return scores
