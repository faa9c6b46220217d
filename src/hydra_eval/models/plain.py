"""Every request by itself: padded batches, and transformers' own `generate`. Any causal model can be run like this."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from transformers import StoppingCriteriaList

from hydra_eval.models.batching import Budget, plan_batches
from hydra_eval.models.decoding import StopStrings, decode_seeded
from hydra_eval.models.efficiency import Efficiency
from hydra_eval.models.encoding import Ids, Span
from hydra_eval.models.head import LogitSlices
from hydra_eval.models.likelihood import Row, SpanScore, score_spans
from hydra_eval.models.replies import Manner, Wanted

REPLY_PASSES = 8
"""Forward passes' worth of tokens, the room for replies among them: rows fill it one token at a time."""


class PlainEngine:
    """Scores and replies in batches of like length."""

    def __init__(self, model: Any, logit_slices: LogitSlices, budget: Budget, dtype: torch.dtype | None) -> None:
        self.model = model
        self.logit_slices = logit_slices
        self.budget = budget
        self.dtype = dtype

    def score(self, rows: Sequence[Row], start: Ids, spent: Efficiency) -> dict[Span, SpanScore]:
        """The scores of every span. `start` is what the rows begin with: here each runs it by itself."""
        scores: dict[Span, SpanScore] = {}
        for batch in plan_batches([row.inputs for row in rows], [row.key for row in rows], self.budget):
            chunk = [rows[index] for index in batch]
            ids, chosen = pad_right(chunk)
            unstretch(self.model)
            slices = self.logit_slices(ids.to(self.model.device), chosen.to(self.model.device))
            scores |= score_spans(slices, _places(chunk), self.dtype)
            spent.logit_positions += sum(row.scored for row in chunk)
        return scores

    def reply(self, wanted: Sequence[Wanted], manner: Manner, start: Ids, spent: Efficiency) -> list[list[int]]:
        """The ids of each reply, which may go on after its end: rows of a batch wait for each other."""
        return reply_in_batches(wanted, manner, self.budget, lambda batch: self._reply_batch(batch, manner, spent))

    def forget(self) -> None:
        """Nothing is kept from packet to packet."""

    def _reply_batch(self, wanted: Sequence[Wanted], manner: Manner, spent: Efficiency) -> list[list[int]]:
        ids, mask = _pad_left([one.prompt for one in wanted], manner.pad_id)
        unstretch(self.model)
        device = self.model.device
        inputs = {"input_ids": ids.to(device), "attention_mask": mask.to(device)}
        made = generate_rows(self.model, wanted, manner, inputs=inputs, behind=ids.shape[1])
        return counted_replies(made, manner, spent)


def reply_in_batches(
    wanted: Sequence[Wanted], manner: Manner, budget: Budget, make: Callable[[list[Wanted]], list[list[int]]]
) -> list[list[int]]:
    """The ids of each reply. `make` gives those of one batch, whose prompts are of like length."""
    prompts, keys = [one.prompt for one in wanted], [one.key for one in wanted]
    replies: dict[int, list[int]] = {}
    room = manner.generation.max_new_tokens
    rows = 1 if manner.alone else budget.flights(max(map(len, prompts)) + room)
    within = replace(budget, tokens=REPLY_PASSES * budget.tokens, rows=rows)
    for batch in plan_batches(prompts, keys, within, room=room):
        replies |= zip(batch, make([wanted[at] for at in batch]), strict=True)
    return [replies[at] for at in range(len(wanted))]


def generate_rows(
    model: Any, wanted: Sequence[Wanted], manner: Manner, *, inputs: Mapping[str, Any], behind: int
) -> Tensor:
    """What transformers' `generate` makes of `inputs` [rows, steps]: what its sequences hold behind so many ids."""
    options = dict(manner.options)
    options["stopping_criteria"] = StoppingCriteriaList([StopStrings(manner, behind)])
    if manner.generation.do_sample:
        options |= {"custom_generate": decode_seeded, "seeds": [one.seed for one in wanted]}
    sequences: Tensor = model.generate(**inputs, **options)
    return sequences[:, behind:]


def counted_replies(made: Tensor, manner: Manner, spent: Efficiency) -> list[list[int]]:
    """The rows as lists; adds what they took to the counters."""
    rows, steps = len(made) * manner.beams, made.shape[1]
    spent.logit_positions += rows * steps
    spent.row_steps += rows * (steps - 1)
    replies: list[list[int]] = made.tolist()
    return replies


def unstretch(model: Any) -> None:
    """Rotary positions that are stretched with a sequence's length as they were at first: they remember the longest."""
    for module in model.modules():
        if getattr(module, "rope_type", None) == "dynamic":
            module.inv_freq = module.original_inv_freq.to(module.inv_freq.device)
            module.max_seq_len_cached = module.original_max_seq_len


def pad_right(rows: Sequence[Row]) -> tuple[Tensor, Tensor]:
    """Ids [rows, length], and which positions need logits [rows, length].

    Padding is to the right and unmasked: in a causal model nothing before it can see it, and attention without a mask
    takes the faster kernels.
    """
    length = max(len(row.inputs) for row in rows)
    ids = torch.zeros(len(rows), length, dtype=torch.long)
    chosen = torch.zeros(len(rows), length, dtype=torch.bool)
    for index, row in enumerate(rows):
        ids[index, : len(row.inputs)] = torch.tensor(row.inputs)
        chosen[index, len(row.inputs) - row.scored : len(row.inputs)] = True
    return ids, chosen


def _places(rows: Sequence[Row]) -> dict[Span, Tensor]:
    """Where each target's logits stand among the chosen positions."""
    places: dict[Span, Tensor] = {}
    end = 0
    for row in rows:
        end += row.scored
        places |= {Span(row.inputs, target): torch.arange(end - len(target), end) for target in row.targets}
    return places


def _pad_left(prompts: Sequence[Ids], pad_id: int) -> tuple[Tensor, Tensor]:
    """Ids and attention mask [rows, length], prompts flush right, where generation goes on."""
    length = max(map(len, prompts))
    ids = torch.full((len(prompts), length), pad_id, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for row, prompt in enumerate(prompts):
        ids[row, length - len(prompt) :] = torch.tensor(prompt)
        mask[row, length - len(prompt) :] = 1
    return ids, mask
