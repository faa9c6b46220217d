"""The ways to run a model's requests, and which one a model takes."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

import torch

from hydra_eval.config.schema import ModelConfig
from hydra_eval.models.batching import Budget
from hydra_eval.models.budget import budget_of, device_memory, longest_together, shape_of
from hydra_eval.models.efficiency import Efficiency
from hydra_eval.models.encoder_decoder import EncoderDecoderEngine
from hydra_eval.models.encoding import Ids, Span
from hydra_eval.models.engine.probe import find_trunk
from hydra_eval.models.engine.trees import TreeEngine
from hydra_eval.models.head import find_logit_slices
from hydra_eval.models.likelihood import Row, SpanScore
from hydra_eval.models.plain import PlainEngine
from hydra_eval.models.replies import Manner, Wanted

logger = logging.getLogger(__name__)


class Engine(Protocol):
    """Runs what HFModel has made of a packet, and adds to its counters. `start` is what most of its rows begin with."""

    def score(self, rows: Sequence[Row], start: Ids, spent: Efficiency) -> dict[Span, SpanScore]:
        """The scores of every span of the rows."""
        ...

    def reply(self, wanted: Sequence[Wanted], manner: Manner, start: Ids, spent: Efficiency) -> list[list[int]]:
        """The ids of each reply; what comes after its end does not count."""
        ...

    def forget(self) -> None:
        """Drop what is kept from packet to packet, where memory has run out."""
        ...


def choose_engine(model: Any, config: ModelConfig) -> tuple[Engine, dict[str, Any]]:
    """What runs the model's requests, and how, as a results file says it."""
    plain = plain_engine(model, config)
    if isinstance(plain, EncoderDecoderEngine):
        return plain, _plainly(model, "encoder-decoder", plain.budget)
    trunk = find_trunk(model, plain.logit_slices) if config.prefix_sharing else "model.prefix_sharing=false"
    if isinstance(trunk, str):
        return plain, _plainly(model, trunk, plain.budget)
    return TreeEngine(trunk, plain, plain.budget), {"prefix_sharing": True, "batch_tokens": plain.budget.tokens}


def plain_engine(model: Any, config: ModelConfig) -> PlainEngine | EncoderDecoderEngine:
    """What shares nothing between rows but a forward pass."""
    shape = shape_of(model.config, str(model.dtype).removeprefix("torch."))
    budget = replace(
        budget_of(config, shape, device_memory(str(model.device))), together=longest_together(model.config)
    )
    dtype = None if config.softmax_dtype is None else getattr(torch, config.softmax_dtype)
    if model.config.is_encoder_decoder:
        return EncoderDecoderEngine(model, budget, dtype)
    return PlainEngine(model, find_logit_slices(model), budget, dtype)


def _plainly(model: Any, reason: str, budget: Budget) -> dict[str, Any]:
    logger.info("%s runs plainly, each request by itself: %s.", type(model).__name__, reason)
    return {"prefix_sharing": reason, "batch_tokens": budget.tokens}
