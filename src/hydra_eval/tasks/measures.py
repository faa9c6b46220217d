"""How a cell is scored: its filters, its metrics, and how many replies they need. Nothing here needs the data."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hydra_eval.config.schema import RunConfig
from hydra_eval.config.task_config import TaskConfig
from hydra_eval.errors import UserError
from hydra_eval.filters.base import Pipeline
from hydra_eval.filters.build import build_pipelines
from hydra_eval.metrics.base import BoundMetric
from hydra_eval.metrics.build import build_metrics
from hydra_eval.metrics.sampled import scored_as_task
from hydra_eval.tasks.cells import Cell
from hydra_eval.tasks.generation import is_sampled, merged_kwargs

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """Raised for before any data is read: whatever is wrong in filters, metrics and their parameters."""

    filters: tuple[Pipeline, ...]
    metrics: tuple[BoundMetric, ...]
    generation_kwargs: Mapping[str, Any] | None
    """As lm-eval would show them; None for a task that scores likelihoods."""
    repeats: int
    """Replies per request."""


def measures_of(cell: Cell, task: TaskConfig, config: RunConfig) -> Measures:
    metrics = build_metrics(
        scored_as_task(config.metrics, task.metric_list) or task.metric_list,
        output_type=task.output_type,
        has_process_results=task.process_results is not None,
        where=task.file,
        parameters=cell.parameters,
    )
    kwargs = merged_kwargs(task, config.generation) if task.output_type == "generate_until" else None
    return Measures(
        filters=build_pipelines(config.filters or task.filter_list, where=task.file),
        metrics=metrics,
        generation_kwargs=kwargs,
        repeats=task.repeats if kwargs is None else _repeats(task, config.generation.n, kwargs, metrics),
    )


def _repeats(task: TaskConfig, asked: int | None, kwargs: Mapping[str, Any], metrics: Sequence[BoundMetric]) -> int:
    """`generation.n`, else what the task says, or more where a metric needs more."""
    needed = max((metric.replies for metric in metrics), default=1)
    if asked is not None and asked < needed:
        names = ", ".join(f"'{metric.name}'" for metric in metrics if metric.replies > asked)
        raise UserError(f"{task.file}: metric {names} needs {needed} replies, but generation.n={asked}.")
    repeats = asked or max(task.repeats, needed)
    if repeats > 1 and not is_sampled(kwargs):
        told = f"{task.file}: {repeats} replies per request are asked for, but greedy decoding gives only one"
        if asked is not None or needed > 1:
            raise UserError(f"{told}. Add generation.do_sample=true generation.temperature=0.7, or ask for one reply.")
        log.warning("%s.", told)
    return repeats
