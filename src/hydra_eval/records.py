"""What flows from a data set's row to a table's row. Frozen, without behaviour beyond their own identity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple


class RequestKind(Enum):
    """What is asked of the model; each kind is one call of the model protocol."""

    LOGLIKELIHOOD = "loglikelihood"
    ROLLING = "loglikelihood_rolling"
    GENERATE = "generate_until"


class DocKey(NamedTuple):
    """Identity of a document within a run; sorting by it gives the order of the files."""

    task: str
    doc: int


class InstanceKey(NamedTuple):
    """Identity of one request: document, request number within it, repeat number within that."""

    task: str
    doc: int
    request: int
    repeat: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Doc:
    """One row of a data set, with the identity it keeps through the whole run."""

    task: str
    split: str
    index: int
    """Number among the task's documents, counted before any limit; `doc_id` in the samples file."""
    row: Mapping[str, Any]
    position: int | None = None
    """Position in its split after `process_docs`, where it differs from `index`: several splits, another order."""

    @property
    def key(self) -> DocKey:
        return DocKey(self.task, self.index)

    @property
    def origin(self) -> tuple[str, int]:
        """(split, position): where the row comes from, whatever was dropped, shuffled or limited since."""
        return (self.split, self.index if self.position is None else self.position)


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """How one reply is to be generated; every default is filled in."""

    max_new_tokens: int
    stop: tuple[str, ...]
    do_sample: bool = False
    temperature: float | None = 0.0
    """None: the model's own, which under transformers is 1 where its config says nothing."""
    top_p: float | None = None
    top_k: int | None = None
    seed: int = 1234
    """Seeds the reply's own generator together with the instance's key."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Handed to `transformers.GenerationConfig` as it is (num_beams, repetition_penalty, …)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One question of a document, as a task asks it; with an identity it becomes an `Instance`."""

    kind: RequestKind
    arguments: tuple[Any, ...]
    """As lm-eval writes them: (context, continuation), (text,) or (context, generation_kwargs)."""
    generation: Generation | None = None
    """The same kwargs with every default filled in; for `GENERATE` alone."""
    repeats: int | None = None
    """Times it is asked; None: as often as its task says."""
    moves_blanks: bool = True
    """White space at the end of the context is scored with the continuation, as in lm-eval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """One request to the model."""

    key: InstanceKey
    kind: RequestKind
    context: str
    """The prompt as sent; empty for a rolling log-likelihood."""
    continuation: str | None = None
    """The text to score: after the context, or on its own for a rolling log-likelihood."""
    generation: Generation | None = None
    arguments: tuple[Any, ...] = ()
    """The request as lm-eval would show it in its samples file."""
    moves_blanks: bool = True
    """White space at the end of the context is scored with the continuation, as in lm-eval."""
    cut: str = "left"
    """Where a context that is too long loses tokens: left or middle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Packet:
    """Whole documents' requests of one kind: the unit of sharding, of forward passes and of resume."""

    index: int
    kind: RequestKind
    instances: tuple[Instance, ...]
    cost: int
    """Estimated tokens to run through the model."""
    prefix: str = ""
    """Text that the longest context of each document begins with, over all of the task and kind in the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What the model said to one instance."""

    key: InstanceKey
    text: str | None = None
    """Generation: the reply up to its first stop string, its reasoning aside."""
    reasoning: str | None = None
    """Generation: what comes before the answer, up to `model.think_end_token` and with it; None where there is none."""
    logprob: float | None = None
    """Log-likelihoods: sum over the continuation's tokens, in nats."""
    token_logprobs: tuple[float, ...] = ()
    """Log-likelihoods: one value per token of the continuation, in nats."""
    is_greedy: bool | None = None
    """Log-likelihood: every token of the continuation is the model's first choice."""
    input_tokens: int = 0
    output_tokens: int = 0
    cut_tokens: int = 0
    """Prompt tokens left out because the model's window is too short."""
    input_ids: tuple[int, ...] = ()
    """What was sent, after truncation: the context's ids, and for a log-likelihood the continuation's after them."""
    finish_reason: str | None = None
    """Generation: `stop` (stop string or end-of-sequence) or `length`."""
    halvings: int = 0
    """How often its packet was halved because memory ran out: its last bits may be others than with more memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleRow:
    """One document as seen through one filter pipeline: the product of a run."""

    task: str
    doc_id: int
    filter: str
    doc: Mapping[str, Any]
    target: Any
    arguments: tuple[tuple[Any, ...], ...]
    """One entry per request of the document."""
    resps: tuple[tuple[Any, ...], ...]
    """Raw replies: request × repeat; text, or (log-likelihood, is_greedy), or log-likelihood."""
    filtered_resps: tuple[Any, ...]
    """What the pipeline made of each request's replies."""
    scores: Mapping[str, Any]
    """Metric name → per-document value: a number, or the tuple that the metric's aggregation wants."""
    metric_of: Mapping[str, str] = field(default_factory=dict)
    """For scores that a metric gave in a mapping: score name → that metric, whose aggregation counts."""
    shots: tuple[int, ...] = ()
    """Index of each few-shot example in its pool, in prompt order."""
    shots_requested: int = 0
    """Examples asked for; more than are in `shots` where the pool was too small, or the window."""
    shots_used: int = 0
    """Examples in the prompt, also those that a task draws by itself and `shots` does not know."""
    input_ids: tuple[tuple[int, ...], ...] = ()
    """Ids of each response's request, where the run logs them."""
    input_tokens: tuple[int, ...] = ()
    output_tokens: tuple[int, ...] = ()
    cut_tokens: tuple[int, ...] = ()
    finish_reasons: tuple[str | None, ...] = ()
    reasoning: tuple[str | None, ...] = ()
    """Of each reply; empty where none has any."""
    halvings: int = 0
    """How often a packet of its requests was halved because memory ran out."""

    @property
    def key(self) -> tuple[str, str, int]:
        return (self.task, self.filter, self.doc_id)
