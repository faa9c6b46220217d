"""`lighteval.tasks.requests`: one question as a prompt function words it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class SamplingMethod(StrEnum):
    """What a metric needs of the model: replies, likelihoods of the choices, or the likelihood of the query."""

    GENERATIVE = "GENERATIVE"
    LOGPROBS = "LOGPROBS"
    PERPLEXITY = "PERPLEXITY"


@dataclass(slots=True)
class Doc:
    """A query with its choices; what a task file's prompt function returns for a row."""

    query: str
    choices: list[str]
    gold_index: int | list[int]
    instruction: str | None = None
    """Stands once at the head of the prompt; queries that begin with it lose it."""
    images: list[Any] | None = None
    specific: dict[str, Any] | None = None
    """Whatever the task's metrics want to know besides."""
    unconditioned_query: str | None = None
    """The context that `LogProbPMINorm` subtracts."""
    original_query: str | None = None
    """The text whose words or bytes a perplexity is counted over, where the query is a cleaned form of it."""
    id: str = ""
    task_name: str = ""
    fewshot_samples: list[Any] = field(default_factory=list)
    sampling_methods: list[SamplingMethod] = field(default_factory=list)
    fewshot_sorting_class: str | None = None
    """Class for balanced picks; without it the first gold answer."""
    generation_size: int | None = None
    stop_sequences: list[str] | None = None
    use_logits: bool = False
    num_samples: int = 1
    generation_grammar: None = None

    def get_golds(self) -> list[str]:
        """The right answers' texts; a choice that is a list gives several."""
        return [text for index in as_list(self.gold_index) for text in as_list(self.choices[index])]


def as_list(item: Any) -> list[Any]:
    """A list as it is, a tuple as a list, anything else as a list of one."""
    return item if isinstance(item, list) else list(item) if isinstance(item, tuple) else [item]
