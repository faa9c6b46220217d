"""What the runner asks of a model. Batching, sorting and truncation are the model's own business."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from hydra_eval.models.efficiency import Efficiency
from hydra_eval.records import Packet, Response


@dataclass(frozen=True, kw_only=True)
class ModelFacts:
    """What a results file says about the model."""

    name: str
    source: str
    """Hub name or folder."""
    revision: str | None
    sha: str | None
    """Commit of the weights on the hub, where known."""
    parameters: int
    dtype: str
    max_length: int
    device: str
    tokens: Mapping[str, Any] = field(default_factory=dict)
    """tokenizer_pad_token, tokenizer_eos_token, tokenizer_bos_token, eot_token_id: [text, id] or id, as in lm-eval."""
    engine: Mapping[str, Any] = field(default_factory=dict)
    """prefix_sharing: true, or why not; batch_tokens: of one forward pass."""


class Model(Protocol):
    """A language model on this process' device."""

    facts: ModelFacts
    efficiency: dict[str, Efficiency]
    """By request kind (`RequestKind.value`)."""

    def loglikelihood(self, packet: Packet) -> list[Response]:
        """Score the continuations of a LOGLIKELIHOOD or ROLLING packet; one response per instance, same order."""
        ...

    def generate(self, packet: Packet) -> list[Response]:
        """Reply to the contexts of a GENERATE packet; one response per instance, same order."""
        ...
