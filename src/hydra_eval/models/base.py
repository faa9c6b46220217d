"""What the runner asks of a model. Batching, sorting and truncation are the model's own business."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

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
    loading: Mapping[str, Any] = field(default_factory=dict)
    """What came over or instead of the checkpoint's own weights, and how they run."""
    engine: Mapping[str, Any] = field(default_factory=dict)
    """prefix_sharing: true, or why not; batch_tokens: of one forward pass."""


class Model(Protocol):
    """A language model on this process' device."""

    facts: ModelFacts
    efficiency: dict[str, Efficiency]
    """By request kind (`RequestKind.value`)."""

    def encode(self, packet: Packet) -> Any:
        """What the packet's texts become, for the other two methods alone to read.

        Uses no device: another thread does it while the packet before is answered. UserError for what cannot be sent.
        """
        ...

    def loglikelihood(self, packet: Packet, encoded: Any = None) -> list[Response]:
        """Score the continuations of a LOGLIKELIHOOD or ROLLING packet; one response per instance, same order.

        `encoded` is what `encode` made of the packet, where that was done before.
        """
        ...

    def generate(self, packet: Packet, encoded: Any = None) -> list[Response]:
        """Reply to the contexts of a GENERATE packet; one response per instance, same order."""
        ...

    def one_by_one(self) -> AbstractContextManager[Reference]:
        """The same weights in float32, each row in a forward pass of its own, nothing shared; until it is left."""
        ...


class Reference(NamedTuple):
    """A model that answers as plainly as it can, to compare with."""

    model: Model
    """With counters of its own."""
    dtype: str
    why: str | None = None
    """Why that is not float32."""
