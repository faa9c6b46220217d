"""The metrics of an entry, bound for one task: parameters set, what cannot run refused, aggregations honest."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from hydra_eval.errors import UserError
from hydra_eval.metrics.base import BoundMetric
from hydra_eval.tables.aggregations import aggregation_of
from hydra_eval.tables.kinds import WITH_UNCONDITIONED, category_of, refers_to_unconditioned, replies_for
from hydra_eval.tables.lighteval.metric_types import renamed, set_options, shown
from hydra_eval.tables.optional import needed

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableMetric:
    """One metric object of a task file with the names its values get."""

    metric: Any
    category: str
    names: Mapping[str, str]
    """The metric's own name → the name in the results."""
    bound: tuple[BoundMetric, ...]
    wants_unconditioned: bool = False

    @property
    def kind(self) -> str:
        """Which of a document's responses it scores."""
        return WITH_UNCONDITIONED if self.wants_unconditioned else self.category

    @property
    def replies(self) -> int:
        return replies_for(self.metric)


def table_metrics(metrics: Sequence[Any], parameters: Mapping[str, Any], *, where: str) -> list[TableMetric]:
    """The metrics of one cell; the table's own objects stay as they are. `where` names file and task.

    Raises UserError for a metric that cannot run here, an unknown or missing parameter, and an empty list.
    """
    if not metrics:
        raise UserError(f"{where}: the task has no metrics.")
    metrics = deepcopy(list(metrics))
    _refuse_unsupported(metrics, where)
    _set_parameters(metrics, parameters, where)
    for metric in metrics:
        _check_required(metric, where)
    taken: list[str] = []
    return [_bound(metric, taken) for metric in metrics]


def _refuse_unsupported(metrics: Sequence[Any], where: str) -> None:
    """Names every metric that cannot run here, before any data is loaded."""
    wants = {shown(metric.metric_name): reason for metric in metrics if (reason := _refused(metric.sample_level_fn))}
    if wants:
        raise UserError(
            f"{where}: {'; '.join(f'metric {name} needs {reason}' for name, reason in wants.items())}, "
            "which is not supported. Leave it out of the task's metrics."
        )
    for metric in metrics:
        for part in (metric.sample_level_fn, metric.corpus_level_fn):
            for library in getattr(part, "needs", ()):
                needed(library)


def _refused(function: Any) -> str | None:
    if any(base.__name__ == "JudgeLLM" for base in type(function).__mro__):
        return "a model as judge"
    return getattr(function, "refused", None)


def _set_parameters(metrics: Sequence[Any], parameters: Mapping[str, Any], where: str) -> None:
    """`name@k=v`: for every metric that lighteval marks with `@` as taking parameters."""
    if not parameters:
        return
    taking = [metric for metric in metrics if "@" in str(metric.metric_name)]
    if not taking:
        raise UserError(f"{where}: none of its metrics takes parameters, but '@{next(iter(parameters))}=…' is given.")
    for metric in taking:
        set_options(metric.sample_level_fn, parameters, where=f"{where}: metric '{metric.metric_name}'")
        metric.metric_name = renamed(metric.metric_name, parameters, metric.sample_level_fn)


def _check_required(metric: Any, where: str) -> None:
    function = metric.sample_level_fn
    required = getattr(function, "attribute_must_be_set", ())
    missing = [name for name in required if getattr(function, name) in (None, [None])]
    if missing:
        raise UserError(
            f"{where}: metric '{metric.metric_name}' needs '{missing[0]}': write the task as "
            f"name@{missing[0]}=4, or set it in the task file (sample_params)."
        )
    k, n = getattr(function, "k", None), getattr(function, "n", None)
    for least in k if isinstance(k, list | tuple) else [k]:
        if isinstance(least, int) and isinstance(n, int) and least > n:
            raise UserError(f"{where}: metric '{metric.metric_name}': k={least} of n={n} replies; k must not exceed n.")


def _bound(metric: Any, taken: list[str]) -> TableMetric:
    names = {name: _free(shown(name), taken) for name in _own_names(metric)}
    bound = tuple(
        BoundMetric(name, None, aggregation_of(metric, own), _direction(metric, own)) for own, name in names.items()
    )
    return TableMetric(
        metric=metric,
        category=category_of(metric),
        names=names,
        bound=bound,
        wants_unconditioned=refers_to_unconditioned(metric),
    )


def _own_names(metric: Any) -> list[str]:
    """A grouping with names that depend on its parameters (g-pass@k) tells them itself."""
    own = getattr(metric.sample_level_fn, "metric_names", None)
    if own:
        return list(own)
    return list(metric.metric_name) if isinstance(metric.metric_name, list | tuple) else [metric.metric_name]


def _free(name: str, taken: list[str]) -> str:
    """Several metrics of one name (lighteval has three called f1) are numbered, so that none hides another."""
    free = next(new for new in (name, *(f"{name}_{number}" for number in range(2, 1000))) if new not in taken)
    if free != name:
        log.warning("Two metrics are called '%s': the later one is shown as '%s'.", name, free)
    taken.append(free)
    return free


def _direction(metric: Any, name: str) -> bool | None:
    if type(metric.corpus_level_fn).__name__ == "CorpusLevelPerplexityMetric":
        return False
    given = metric.higher_is_better
    given = given.get(name) if isinstance(given, Mapping) else given
    return None if given is None else bool(given)
