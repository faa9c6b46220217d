"""From a task's `metric_list`, or from `metrics` of the command line, to bound metrics."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from hydra_eval.errors import UserError, did_you_mean, known_names, lookup
from hydra_eval.metrics import AGGREGATIONS, DEFAULT_METRICS, METRICS, PAIR_AGGREGATIONS, PAIR_SCORES
from hydra_eval.metrics.base import Aggregation, BoundMetric, Metric
from hydra_eval.metrics.own import accepted_options, own_metric
from hydra_eval.patterns import compile_patterns

logger = logging.getLogger(__name__)

NOT_YET = ("bleu", "chrf", "chrf++", "ter", "acc_all")
"""Metrics of lm-eval that are refused by name."""
WITHOUT_EFFECT = frozenset(
    {
        "ignore_case",
        "ignore_punctuation",
        "ignore_numbers",
        "regexes_to_ignore",
        "average",
        "weight_by_size",
        "high_is_better",
    }
)
"""Options that tasks written for lm-eval give to metrics that do not take them; lm-eval passes over them.

`high_is_better` is a slip of one of its own tasks.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """One metric as asked for, its own keys apart from its options."""

    name: str
    function: Callable[..., Any] | None
    aggregation: Any
    higher_is_better: bool | None
    from_evaluate: bool
    options: Mapping[str, Any]
    output_type: str
    where: str

    @property
    def here(self) -> str:
        """Head of messages."""
        return f"{self.where}: metric '{self.name}'"


def build_metrics(spec: Any, *, output_type: str, has_process_results: bool, where: str) -> tuple[BoundMetric, ...]:
    """The metrics of one task, in order.

    `spec` is lm-eval's list of `{metric, aggregation, higher_is_better, **options}`, or a mapping `{name: options}`
    that may hold the same keys; nothing means lm-eval's defaults for the output type. A metric's score may return a
    mapping; its keys then are the names of the values, and each inherits aggregation and direction. Where
    `process_results` fills the values, any name goes, and scores are None. `where` heads the messages.
    """
    lookup(METRICS, output_type, kind="output_type", where=where)
    entries = list(_entries(spec, output_type, where))
    names = [entry.name for entry in entries]
    for entry in entries:
        if names.count(entry.name) > 1:
            raise UserError(f"{where}: metric '{entry.name}' is listed twice; the second would hide the first.")
    bind = _bind_name if has_process_results else _bind
    return tuple(bind(entry) for entry in entries)


def _entries(spec: Any, output_type: str, where: str) -> Iterable[_Entry]:
    if spec is None or spec == {}:
        spec = dict.fromkeys(DEFAULT_METRICS[output_type])
    if isinstance(spec, Mapping):
        spec = [_with_name(name, options, where) for name, options in spec.items()]
    if not isinstance(spec, list | tuple):
        raise UserError(f"{where}: metrics must be a list of {{metric, …}} or a mapping from names, not {spec!r}.")
    return [_entry(item, output_type, where) for item in spec]


def _with_name(name: str, options: Any, where: str) -> dict[str, Any]:
    if options is not None and not isinstance(options, Mapping):
        raise UserError(f"{where}: options of metric '{name}' must be a mapping such as {{}}, not {options!r}.")
    return {"metric": name, **(options or {})}


def _entry(item: Any, output_type: str, where: str) -> _Entry:
    if not isinstance(item, Mapping) or "metric" not in item:
        raise UserError(f"{where}: an entry of metric_list must be a mapping with the key metric, not {item!r}.")
    options = {str(key): value for key, value in item.items()}
    metric = options.pop("metric")
    if not callable(metric) and not isinstance(metric, str):
        raise UserError(f"{where}: metric must be a name or !function, not {metric!r}.")
    name = _function_name(metric) if callable(metric) else metric
    higher = options.pop("higher_is_better", None)
    if higher is not None and not isinstance(higher, bool):
        raise UserError(f"{where}: metric '{name}': higher_is_better must be true or false, not {higher!r}.")
    return _Entry(
        name=name,
        function=metric if callable(metric) else None,
        aggregation=options.pop("aggregation", None),
        higher_is_better=higher,
        from_evaluate=options.pop("hf_evaluate", False) is True,
        options=options,
        output_type=output_type,
        where=where,
    )


def _bind_name(entry: _Entry) -> BoundMetric:
    """A name that `process_results` fills: options have nothing to act on, as in lm-eval."""
    _checked_options(entry, accepted_options(entry.function) if entry.function else frozenset())
    return _bound(entry, None, {})


def _bind(entry: _Entry) -> BoundMetric:
    if entry.output_type == "generate_until" and entry.from_evaluate:
        raise UserError(
            f"{entry.here}: hf_evaluate asks for a metric of the Hugging Face library evaluate, which is not used "
            f"here. Write it as !function, or take one of: {known_names(METRICS[entry.output_type])}."
        )
    if entry.function is not None:
        return _bind_function(entry, entry.function)
    metric = _find(entry)
    options = _checked_options(entry, _keyword_options(metric.score))
    bound = _bound(entry, partial(metric.score, **options) if options else metric.score, options)
    _check_pairs(entry, metric, bound.aggregation)
    return bound


def _bind_function(entry: _Entry, function: Callable[..., Any]) -> BoundMetric:
    if entry.output_type != "generate_until":
        raise UserError(
            f"{entry.here}: an own function scores generated text, but the task's output_type is "
            f"{entry.output_type}. Score it in process_results, or take one of: "
            f"{known_names(METRICS[entry.output_type])}."
        )
    options = _checked_options(entry, accepted_options(function))
    return _bound(entry, own_metric(function, options, where=entry.here), options)


def _find(entry: _Entry) -> Metric:
    table = METRICS[entry.output_type]
    owners = [output_type for output_type, metrics in METRICS.items() if entry.name in metrics]
    if owners and entry.name not in table:
        raise UserError(
            f"{entry.here} belongs to output_type {' and '.join(owners)}, and the task's is {entry.output_type}. "
            f"Metrics for that: {known_names(table)}."
        )
    if entry.name in NOT_YET:
        raise UserError(f"{entry.where}: the metric '{entry.name}' is not supported yet.")
    return lookup(table, entry.name, kind=f"metric of {entry.output_type}", where=entry.where)


def _checked_options(entry: _Entry, known: frozenset[str] | None) -> dict[str, Any]:
    """The options that the metric takes (`known`; None: any), after those without effect are left out."""
    if known is None:
        return dict(entry.options)
    takes = f"It takes: {known_names(known)}." if known else "It takes no options."
    for option in entry.options:
        if option not in known | WITHOUT_EFFECT:
            near = did_you_mean(option, known | WITHOUT_EFFECT | {"aggregation", "higher_is_better"})
            raise UserError(f"{entry.here} has no option '{option}'.{near} {takes}")
        if option not in known:
            logger.debug("%s: option %s has no effect on it", entry.here, option)
    options = {option: value for option, value in entry.options.items() if option in known}
    _check_patterns(entry, options)
    return options


def _keyword_options(score: Callable[..., Any]) -> frozenset[str]:
    """What one of our scores takes besides the outcome."""
    return frozenset(p.name for p in inspect.signature(score).parameters.values() if p.kind is p.KEYWORD_ONLY)


def _check_patterns(entry: _Entry, options: Mapping[str, Any]) -> None:
    try:
        compile_patterns(options.get("regexes_to_ignore"))
    except UserError as error:
        raise UserError(f"{entry.here}: regexes_to_ignore: {error}.") from error


def _bound(entry: _Entry, score: Callable[..., Any] | None, options: Mapping[str, Any]) -> BoundMetric:
    registered = METRICS[entry.output_type].get(entry.name) or _same_name_elsewhere(entry.name)
    higher = entry.higher_is_better
    if higher is None and registered is not None:
        higher = registered.higher_is_better
    default = registered.aggregation if registered else "mean"
    return BoundMetric(
        name=entry.name,
        score=score,
        aggregation=_aggregation(default if entry.aggregation is None else entry.aggregation, entry.here),
        higher_is_better=higher,
        options=options,
    )


def _same_name_elsewhere(name: str) -> Metric | None:
    return next((metrics[name] for metrics in METRICS.values() if name in metrics), None)


def _aggregation(given: Any, where: str) -> Aggregation:
    if callable(given):
        return Aggregation(_function_name(given), given)
    if not isinstance(given, str):
        raise UserError(f"{where}: aggregation must be a name or !function, not {given!r}.")
    return lookup(AGGREGATIONS, given, kind="aggregation", where=where)


def _check_pairs(entry: _Entry, metric: Metric, aggregation: Aggregation) -> None:
    """Numbers and pairs must meet their like before hours of inference, not after."""
    if AGGREGATIONS.get(aggregation.name) is not aggregation or aggregation.name == "bypass":
        return
    gives_pairs, wants_pairs = metric.score in PAIR_SCORES, aggregation.name in PAIR_AGGREGATIONS
    if gives_pairs == wants_pairs:
        return
    kinds = {True: "pairs", False: "numbers"}
    fitting = [name for name in AGGREGATIONS if (name in PAIR_AGGREGATIONS) == gives_pairs]
    raise UserError(
        f"{entry.here} gives {kinds[gives_pairs]}, and aggregation '{aggregation.name}' combines "
        f"{kinds[wants_pairs]}. Name an own aggregation (!function), or one of: {known_names(fitting)}."
    )


def _function_name(function: Any) -> str:
    """The name of a function, of the one within a `functools.partial`, or of a callable object's class."""
    inner = function.func if isinstance(function, partial) else function
    return str(getattr(inner, "__name__", type(inner).__name__))
