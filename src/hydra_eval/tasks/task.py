"""A task ready to run: every hook resolved, every default filled, data loaded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from hydra_eval.data.facts import DataFacts, fingerprint
from hydra_eval.filters.base import Pipeline
from hydra_eval.metrics.base import BoundMetric
from hydra_eval.prompts.style import Style
from hydra_eval.records import Doc, Generation, Request
from hydra_eval.tasks.asks import Ask

Row: TypeAlias = Mapping[str, Any]
OwnRequests: TypeAlias = Callable[[Doc, Sequence[Doc], Style], list[Request]]
"""`(doc, its examples, style) -> requests`, prompts included."""
PickFunction: TypeAlias = Callable[[list[dict[str, Any]], dict[str, Any], int, int], list[int]]
"""`(rows of the pool, the document's row, n, seed) -> places in that pool`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """How one row becomes text; once for the document, once for its examples."""

    text: Callable[[Row], Any]
    """A string, or the index of the right context where the contexts differ per choice."""
    target: Callable[[Row], Any]
    """A string, a choice index, or a list of either."""
    choices: Callable[[Row], list[str]] | None
    gen_prefix: Callable[[Row], str | None]
    target_delimiter: str
    fewshot_delimiter: str
    own: Template | None = None
    """The task's wording, where a formulation or an order of the choices has changed it: documents and examples are
    compared by what that says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShotPlan:
    """Which examples stand before a task's documents."""

    strategy: str
    n: int
    seed: int
    pool: tuple[Doc, ...]
    """All rows that examples may come from, in data-set order."""
    pool_split: str | None
    """None for samples written in the task file."""
    sampler: str = "default"
    """The task's own choice (lm-eval's name), followed by the strategy `task`."""
    excludes_doc: bool = False
    """lm-eval draws one example more and drops the document itself; the strategy `task` repeats its draws."""
    compat: str = "lm_eval"
    """Whose picks the strategy `task` repeats: lm_eval or lighteval."""
    on_leak: str = "replace"
    """What becomes of an example that is the document itself: replace or allow."""
    order: str = "drawn"
    shortfall: str = "error"
    indices: tuple[int, ...] = ()
    """Rows of the pool that the strategy `fixed` shows, in prompt order."""
    similarity: str = "tfidf"
    class_field: str | None = None
    from_eval: bool = False
    """The pool holds rows of a split that is evaluated."""
    docs_are_shuffled: bool = False
    """The documents stand in lighteval's order already, as those of a TASKS_TABLE do."""
    function: PickFunction | None = None
    """The strategy, where it is a function of the user's own."""
    drawn_by_task: bool = False
    """The task's own code draws the examples, within its prompts; they are in no pool and in no row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Everything that the stages after `docs` need to know of a task."""

    name: str
    """Name of the result; unique in the run."""
    output_type: str
    """multiple_choice, generate_until, loglikelihood or loglikelihood_rolling."""
    docs: tuple[Doc, ...]
    """Documents to evaluate, after the limit."""
    all_docs: tuple[Doc, ...]
    """Documents before the limit: examples are drawn over these, so that a limit changes no prompt."""
    description: Callable[[Row], str | None]
    template: Template
    shot_template: Template
    shots: ShotPlan
    multiple_input: bool
    multiple_target: bool
    generation: Generation | None
    generation_kwargs: Mapping[str, Any] | None
    """The same as lm-eval would show it."""
    repeats: int
    filters: tuple[Pipeline, ...]
    metrics: tuple[BoundMetric, ...]
    process_results: Callable[[Row, list[Any]], Mapping[str, Any]] | None
    own_requests: OwnRequests | None = None
    """For a task that words its prompts itself (a Python class, an entry of a TASKS_TABLE): its requests may mix
    kinds, and `process_results` scores them. None: prompts and requests follow from `template` and `output_type`."""
    version: Any
    config: Mapping[str, Any]
    """The resolved YAML, for the results file."""
    source: str
    """The task's file."""
    asks: tuple[Ask, ...] = ()
    """What it answers: SPECs, and what the run asks of their tasks."""
    key: str = ""
    """Of `tasks` in the run's config."""
    order: int = 0
    """Which order of the choices; 0 is the task's own."""
    data: DataFacts | None = None
    """Where its documents came from; None for a task that reads them by itself."""

    @property
    def base_name(self) -> str:
        """The name in its file; `name` adds shots and parameters where a run has several cells of it."""
        return str(self.config["task"])

    @property
    def wants_unconditional(self) -> bool:
        return any(metric.name == "acc_mutual_info" for metric in self.metrics)


def chosen_ids(tasks: Sequence[Task]) -> dict[str, list[int]]:
    """Task → numbers of the documents that are evaluated; one entry for cells with the same choice."""
    found: dict[str, list[int]] = {}
    for task in tasks:
        ids = [doc.index for doc in task.docs]
        found[task.base_name if found.get(task.base_name, ids) == ids else task.name] = ids
    return found


def rows_digest(task: Task) -> str:
    """A hash of all rows that a task's requests are made from."""
    return fingerprint(doc.row for doc in (*task.docs, *task.shots.pool))
