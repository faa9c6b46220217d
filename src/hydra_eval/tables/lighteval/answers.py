"""`lighteval.models.model_output`: what a metric sees of the model's answers to one document."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any


@dataclass
class ModelResponse:
    """The replies, or the choices' log-likelihoods, of one document."""

    input: Any = None
    input_tokens: list[int] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    """One entry per reply."""
    output_tokens: list[Any] = field(default_factory=list)
    """Per choice, a list as long as the choice has tokens. Only its length is known: the entries are None."""
    text_post_processed: list[str] | None = None
    reasonings: list[str | None] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    """One sum per choice in nats; for `LogProbPMINorm` followed by those after the unconditioned query."""
    argmax_logits_eq_gold: list[bool] = field(default_factory=list)
    """Per choice: greedy decoding gives it."""
    logits: Any = None
    unconditioned_logprobs: list[float] | None = None
    truncated_tokens_count: int = 0
    padded_tokens_count: int = 0

    @property
    def final_text(self) -> list[str]:
        return self.text if self.text_post_processed is None else self.text_post_processed

    def __getitem__(self, index: int) -> ModelResponse:
        """The same with one reply, or one choice, alone."""
        names = ("text", "text_post_processed", "output_tokens", "logprobs", "argmax_logits_eq_gold")
        own: dict[str, Any] = {name: [value[index]] for name in names if (value := getattr(self, name))}
        return replace(self, **own)
