"""What task code registers, by name. Looked at after our own tables; empty but for our aggregations at first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from hydra_eval.errors import lookup
from hydra_eval.filters import FILTERS
from hydra_eval.lm_eval_compat.api.filter import Filter
from hydra_eval.metrics import AGGREGATIONS, METRICS
from hydra_eval.metrics.base import Metric

T = TypeVar("T")
Decorator = Callable[[T], T]

WHERE = "lm_eval.api.registry"
FILTER_REGISTRY: dict[str, Any] = {}
METRIC_REGISTRY: dict[str, Any] = {}
AGGREGATION_REGISTRY: dict[str, Any] = {name: own.combine for name, own in AGGREGATIONS.items()}
HIGHER_IS_BETTER_REGISTRY: dict[str, bool] = {}
METRIC_AGGREGATION_REGISTRY: dict[str, Any] = {}


class OwnFilter(Filter):
    """One of our filters in lm-eval's shape."""

    def __init__(self, factory: Callable[..., Any], **options: Any) -> None:
        self.step = factory(**options)

    def apply(self, resps: Any, docs: Any) -> list[Any]:
        return list(self.step(list(resps), list(docs)))


def register_filter(name: str) -> Decorator[Any]:
    return _adding(FILTER_REGISTRY, name)


def register_aggregation(name: str) -> Decorator[Any]:
    return _adding(AGGREGATION_REGISTRY, name)


def register_metric(**args: Any) -> Decorator[Any]:
    """`metric` is the name; `higher_is_better` and `aggregation` (a registered name) are remembered with it."""
    name = args["metric"]
    if "higher_is_better" in args:
        HIGHER_IS_BETTER_REGISTRY[name] = args["higher_is_better"]
    if "aggregation" in args:
        METRIC_AGGREGATION_REGISTRY[name] = get_aggregation(args["aggregation"])
    return _adding(METRIC_REGISTRY, name)


def get_filter(name: Any) -> Any:
    """A filter class by name, or what is given if it is no name."""
    if not isinstance(name, str):
        return name
    own = {known: partial(OwnFilter, factory) for known, factory in FILTERS.items()}
    return lookup(own | FILTER_REGISTRY, name, kind="filter", where=WHERE)


def get_metric(name: str, hf_evaluate_metric: bool = False) -> Any:
    return lookup(METRIC_REGISTRY, name, kind="metric", where=WHERE)


def get_aggregation(name: str) -> Any:
    return lookup(AGGREGATION_REGISTRY, name, kind="aggregation", where=WHERE)


def get_metric_aggregation(name: str) -> Any:
    own = {known: AGGREGATIONS[metric.aggregation].combine for known, metric in _own_metrics().items()}
    return lookup(own | METRIC_AGGREGATION_REGISTRY, name, kind="metric", where=WHERE)


def is_higher_better(metric_name: str) -> Any:
    own = {known: metric.higher_is_better for known, metric in _own_metrics().items()}
    return lookup(own | HIGHER_IS_BETTER_REGISTRY, metric_name, kind="metric", where=WHERE)


def _own_metrics() -> Mapping[str, Metric]:
    return {name: metric for metrics in METRICS.values() for name, metric in metrics.items()}


def _adding(table: dict[str, Any], name: str) -> Decorator[Any]:
    def add(item: Any) -> Any:
        if name in table:
            raise ValueError(f"'{name}' is already registered, as {table[name]!r}; run these tasks one by one")
        table[name] = item
        return item

    return add
