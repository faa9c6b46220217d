"""One document's replies become the values of its metrics, called as lighteval calls them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from hydra_eval.tables.aggregations import kept_value
from hydra_eval.tables.metrics import TableMetric


def sample_scores(one: TableMetric, doc: Any, response: Any) -> dict[str, Any]:
    """Name in the results → value of one document; values of other names (a judge's notes) are left out."""
    value = _scored(one.metric, doc, response)
    given = value if _is_grouping(one.metric) and isinstance(value, Mapping) else {next(iter(one.names)): value}
    return {name: kept_value(one.metric, given[own]) for own, name in _present(one.names, given)}


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
