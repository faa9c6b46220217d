"""What a metric is, and what it is shown of one document."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceOutcome:
    """A multiple-choice document: one log-likelihood per choice."""

    choices: Sequence[str]
    gold: int | Sequence[int]
    """Index of the right choice, or several; -100 stands for one that is not among the choices."""
    logprobs: Sequence[float]
    is_greedy: Sequence[bool]
    unconditional: Sequence[float] | None = None
    """Log-likelihood of each choice after an empty context, where a metric asked for it."""
    doc: Mapping[str, Any] = field(default_factory=dict)
    """The document's row, for metrics over groups of documents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LikelihoodOutcome:
    """A scored continuation, or a whole text for a rolling log-likelihood."""

    text: str
    """What was scored."""
    logprob: float
    is_greedy: bool | None = None
    doc: Mapping[str, Any] = field(default_factory=dict)
    """The document's row, for metrics over groups of documents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationOutcome:
    """A filtered reply beside the reference."""

    prediction: Any
    gold: Any
    """A string, or a list of them where the task has several targets."""
    multiple_target: bool = False
    replies: Sequence[Any] = ()
    """Every filtered reply, for metrics over several; the prediction is the one that the pipeline chose of them."""


Outcome: TypeAlias = ChoiceOutcome | LikelihoodOutcome | GenerationOutcome
Score: TypeAlias = Callable[..., Any]
"""`(outcome, **options) -> value`: a number, or the tuple that the aggregation wants."""


@dataclass(frozen=True, slots=True)
class Aggregation:
    """How per-document values become one number, and that number's standard error."""

    name: str
    combine: Callable[[Sequence[Any]], Any]
    stderr: str = "none"
    """`mean` (closed form), `bootstrap`, `groups` (the mean's over groups of documents), or `none`."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One entry of a metric table: score, default aggregation, direction."""

    score: Score
    aggregation: str
    """Key of `AGGREGATIONS`."""
    higher_is_better: bool = True


@dataclass(frozen=True, slots=True)
class BoundMetric:
    """A metric as one task uses it: options bound, aggregation resolved."""

    name: str
    score: Callable[[Any], Any] | None
    """`(outcome) -> value`; None where `process_results` of the task fills this name."""
    aggregation: Aggregation
    higher_is_better: bool | None
    options: Mapping[str, Any] = field(default_factory=dict)
    takes: str = "any"
    """How many replies it scores: `one`, `all`, or `any`: own code may know what to do with a list."""
    replies: int = 1
    """How many replies it needs."""
