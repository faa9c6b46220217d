"""The metrics of an entry, bound for one task: parameters set, what cannot run refused, aggregations honest."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from hydra_eval.errors import UserError
from hydra_eval.metrics import AGGREGATIONS
from hydra_eval.metrics.base import Aggregation, BoundMetric
from hydra_eval.tables.kinds import WITH_UNCONDITIONED, category_of, refers_to_unconditioned, replies_for
from hydra_eval.tables.lighteval.corpus_metrics import CorpusLevelTranslationMetric
from hydra_eval.tables.lighteval.metric_types import renamed, set_options, shown
from hydra_eval.tables.optional import needed

log = logging.getLogger(__name__)

AVERAGED = ("DropMetrics", "StringDistance")
"""Scores that lighteval reduces to the best document's; here they are averaged."""


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
        BoundMetric(name, None, _aggregation(metric, own), _direction(metric, own)) for own, name in names.items()
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


def _aggregation(metric: Any, name: str) -> Aggregation:
    given = metric.corpus_level_fn
    given = given[name] if isinstance(given, Mapping) else given
    if type(metric.sample_level_fn).__name__ in AVERAGED or given is np.mean:
        return AGGREGATIONS["mean"]
    if type(given).__name__ == "CorpusLevelTranslationMetric":
        # lighteval hands sacrebleu the references row by row, so that chrf and ter see the first document alone.
        given = CorpusLevelTranslationMetric(given.metric_type, getattr(given, "lang", ""))
    combine = getattr(given, "compute_corpus", given)
    return Aggregation(getattr(combine, "__name__", type(given).__name__), _plain_result(combine))


def _plain_result(combine: Callable[[Any], Any]) -> Callable[[Sequence[Any]], Any]:
    return lambda values: plain(combine(list(values)))


def sample_scores(one: TableMetric, doc: Any, response: Any) -> dict[str, Any]:
    """Name in the results → value of one document; values of other names (a judge's notes) are left out."""
    value = _scored(one.metric, doc, response)
    given = value if _is_grouping(one.metric) and isinstance(value, Mapping) else {next(iter(one.names)): value}
    return {name: plain(given[own]) for own, name in _present(one.names, given)}


def _present(names: Mapping[str, str], given: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """Options in a grouping's names (`em:k=v`) are not in what its function returns."""
    for own, name in names.items():
        bare = own if own in given else own.partition(":")[0]
        if bare in given:
            yield (bare, name)


def _is_grouping(metric: Any) -> bool:
    return isinstance(metric.metric_name, list | tuple) or "Grouping" in type(metric).__name__


def _scored(metric: Any, doc: Any, response: Any) -> Any:
    function = metric.sample_level_fn
    call = getattr(function, "compute", None) or getattr(function, "prepare", None) or function
    if getattr(metric, "batched_compute", False):
        value = call(responses=[response], docs=[doc])
        return value[0] if isinstance(value, list) else {name: of_docs[0] for name, of_docs in value.items()}
    return call(**_arguments(call, doc, response))


def _arguments(call: Callable[..., Any], doc: Any, response: Any) -> dict[str, Any]:
    """What a scoring function takes by name: lighteval's present words and those of older files."""
    known = {
        "doc": doc,
        "model_response": response,
        "formatted_doc": doc,
        "predictions": response.final_text,
        "golds": [],
    }
    named = inspect.signature(call).parameters
    if "golds" in named:
        known["golds"] = doc.get_golds()
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in named.values())
    wanted = {*named, "doc", "model_response"} if takes_any else {*named}
    return {name: value for name, value in known.items() if name in wanted}


def plain(value: Any) -> Any:
    """Numpy's numbers and truth values as Python's."""
    item = getattr(value, "item", None)
    return item() if callable(item) and getattr(value, "ndim", None) == 0 else value
