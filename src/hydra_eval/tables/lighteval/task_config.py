"""`lighteval.tasks.lighteval_task`: an entry of a TASKS_TABLE."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any


@dataclass
class TextGenerationInputGrammarType:
    """A grammar for replies; a task that has one is refused."""

    type: str
    value: Any = None


@dataclass
class LightevalTaskConfig:
    """One task: its data set, how a row becomes a `Doc`, and how answers are scored."""

    name: str
    prompt_function: Callable[..., Any]
    """`(row, task name) -> Doc`, or None for a row to leave out."""
    hf_repo: str
    hf_subset: str | None = None
    metrics: Sequence[Any] | None = None
    solver: Any = None
    scorer: Any = None
    sample_fields: Any = None
    sample_to_fewshot: Any = None
    filter: Any = None
    hf_revision: str | None = None
    hf_filter: Callable[[dict[str, Any]], bool] | None = None
    hf_avail_splits: Sequence[str] | None = ("train", "validation", "test")
    evaluation_splits: Sequence[str] = ("validation",)
    few_shots_split: str | None = None
    few_shots_select: str | None = None
    generation_size: int | None = None
    generation_grammar: Any = None
    stop_sequence: Sequence[str] | None = None
    num_samples: Sequence[int] | None = None
    original_num_docs: int = -1
    effective_num_docs: int = -1
    must_remove_duplicate_docs: bool = False
    num_fewshots: int = 0
    version: int = 0
    hf_data_files: Any = None
    suite: Any = None
    """Written in older files, and without effect in lighteval too."""
    metric: Sequence[Any] | None = None
    """`metrics`, as older files spell it."""
    trust_dataset: bool | None = None
    """Written in older files; data sets are never trusted with code here."""

    def __post_init__(self) -> None:
        given = self.metrics if self.metrics is not None else self.metric or ()
        self.metrics = tuple(metric.value if isinstance(metric, Enum) else metric for metric in given)
        self.hf_avail_splits = _names(self.hf_avail_splits)
        self.evaluation_splits = _names(self.evaluation_splits)
        self.stop_sequence = () if self.stop_sequence is None else _names(self.stop_sequence)
        self.full_name = f"{self.name}|{self.num_fewshots}"


def _names(value: Sequence[str] | None) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value or ())
