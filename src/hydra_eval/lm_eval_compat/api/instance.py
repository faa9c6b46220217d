"""One request to the model as a task class words it; fields and their order as in lm-eval."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

OutputType = Literal["loglikelihood", "loglikelihood_rolling", "generate_until", "multiple_choice"]


@dataclass
class Instance:
    """Mutable, unlike our own records: task code sets fields of it."""

    request_type: OutputType
    doc: dict[str, Any]
    arguments: Any
    """(context, continuation), (text,) or (context, generation_kwargs)."""
    idx: int
    metadata: tuple[str | None, int | None, int | None] = (None, None, None)
    """(task, number of the document, repeats)."""
    resps: list[Any] = field(default_factory=list)
    filtered_resps: dict[str, Any] = field(default_factory=dict)
    task_name: str | None = None
    doc_id: int | None = None
    repeats: int | None = None

    def __post_init__(self) -> None:
        self.task_name, self.doc_id, self.repeats = self.metadata

    @property
    def args(self) -> tuple[Any, ...]:
        return self.arguments if isinstance(self.arguments, tuple) else (self.arguments,)
