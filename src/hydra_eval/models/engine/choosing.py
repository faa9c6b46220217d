"""The next token: transformers' own logits processors, each on its own row, then the largest score or a seeded draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from transformers import EosTokenCriteria, LogitsProcessorList, MaxLengthCriteria
from transformers.generation.configuration_utils import GenerationMode
from transformers.generation.logits_process import UnbatchedClassifierFreeGuidanceLogitsProcessor

from hydra_eval.models.decoding import SeededNoise
from hydra_eval.models.engine.replies import Flight

OURS = (GenerationMode.GREEDY_SEARCH, GenerationMode.SAMPLE)


class Prepared(NamedTuple):
    """What transformers makes of one way to generate, the model's own generation config included."""

    processors: LogitsProcessorList
    criteria: Sequence[Any]
    config: Any

    @property
    def is_token_by_token(self) -> bool:
        """One token after the other from one forward pass each, and nothing ends a reply but its length and its ids."""
        return (
            self.config.get_generation_mode() in OURS
            and self.config.num_return_sequences in (None, 1)
            and not self.config.token_healing
            and self.config.cache_implementation != "quantized"
            and all(isinstance(one, MaxLengthCriteria | EosTokenCriteria) for one in self.criteria)
            and not any(isinstance(one, UnbatchedClassifierFreeGuidanceLogitsProcessor) for one in self.processors)
        )


def prepare(model: Any, options: Mapping[str, Any], prompt: Sequence[int]) -> Prepared:
    """As `generate` would go about this prompt: it does all but the decoding."""
    ids = torch.tensor([prompt], device=model.device)
    found: Prepared = model.generate(
        input_ids=ids, attention_mask=torch.ones_like(ids), custom_generate=_prepared, **options
    )
    return found


def _prepared(model: Any, ids: Tensor, **rest: Any) -> Prepared:
    return Prepared(rest["logits_processor"], list(rest["stopping_criteria"]), rest["generation_config"])


class Choose:
    """One way to generate, for all flights that share it.

    Processors count what stands before a token, and some keep what they have counted, so each row has its own, for its
    own prompt: what is beside it cannot matter.
    """

    def __init__(self, model: Any, options: Mapping[str, Any], *, processed: bool) -> None:
        self.model = model
        self.options = options
        self.processed = processed
        """The scores are not taken as they are."""
        self._processors: dict[Flight, LogitsProcessorList] = {}

    def __call__(self, logits: Tensor, flights: Sequence[Flight]) -> Tensor:
        if not self.processed:
            return logits.argmax(dim=-1)
        return torch.stack([self._next(row[None].float(), flight) for row, flight in zip(logits, flights, strict=True)])

    def _next(self, scores: Tensor, flight: Flight) -> Tensor:
        ids = torch.tensor([[*flight.prompt, *flight.reply]], device=scores.device)
        processed: Tensor = self._processors_of(flight, scores.device)(ids, scores)
        return processed[0].argmax()

    def _processors_of(self, flight: Flight, device: torch.device) -> LogitsProcessorList:
        if flight not in self._processors:
            processors = prepare(self.model, self.options, flight.prompt).processors
            noise = [] if flight.seed is None else [SeededNoise([flight.seed], device)]
            self._processors[flight] = LogitsProcessorList([*processors, *noise])
        return self._processors[flight]
