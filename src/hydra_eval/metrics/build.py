"""From a task's `metric_list`, or from `metrics` of the command line, to bound metrics."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import partial
from typing import Any

from hydra_eval.errors import UserError, known_names, lookup
from hydra_eval.lm_eval_compat import registered
from hydra_eval.metrics import AGGREGATIONS, METRICS, PAIR_AGGREGATIONS, PAIR_SCORES, SAMPLED
from hydra_eval.metrics.base import Aggregation, BoundMetric, Metric, Score
from hydra_eval.metrics.entries import Entry, function_name, read_entries
from hydra_eval.metrics.hub import load_compute
from hydra_eval.metrics.options import checked_options, keyword_options
from hydra_eval.metrics.own import accepted_options, own_metric
from hydra_eval.metrics.parameters import metric_key, with_parameters
from hydra_eval.metrics.sampled import bind_sampled, sampled_options

logger = logging.getLogger(__name__)

GENERATED = "generate_until"
MISSPELT = 0.8
"""How near to a known name an unknown one is taken for that; others are looked for in the library evaluate."""


def build_metrics(
    spec: Any,
    *,
    output_type: str,
    has_process_results: bool,
    where: str,
    parameters: Mapping[str, Any] | None = None,
) -> tuple[BoundMetric, ...]:
    """The metrics of one task, in order.

    `spec` is lm-eval's list of `{metric, aggregation, higher_is_better, **options}`, or a mapping `{name: options}`
    that may hold the same keys; nothing means lm-eval's defaults for the output type. A metric's score may return a
    mapping; its keys then are the names of the values, and each inherits aggregation and direction. Where
    `process_results` fills the values, any name goes, and scores are None. `parameters` are those of
    `task=NAME@k=v`. `where` heads the messages.
    """
    lookup(METRICS, output_type, kind="output_type", where=where)
    entries = read_entries(spec, output_type=output_type, where=where)
    if parameters:
        takes = [(entry, frozenset() if has_process_results else _takes(entry)) for entry in entries]
        entries = with_parameters(takes, parameters, where=where)
    bind = _bind_name if has_process_results else _bind
    metrics = tuple(bind(entry) for entry in entries)
    names = [metric.name for metric in metrics]
    for name in names:
        if names.count(name) > 1:
            raise UserError(f"{where}: metric '{name}' is listed twice; the second would hide the first.")
    return metrics


def _takes(entry: Entry) -> frozenset[str] | None:
    """Names of the options that a metric takes; None: any."""
    if entry.function is not None:
        return accepted_options(entry.function)
    if entry.output_type == GENERATED and (entry.from_evaluate or entry.name not in METRICS[GENERATED]):
        return None
    metric = _find(entry)
    return sampled_options(entry, metric) if metric.score in SAMPLED else keyword_options(metric.score)


def _bind_name(entry: Entry) -> BoundMetric:
    """A name that `process_results` fills: options have nothing to act on, as in lm-eval."""
    if any(metrics[entry.name].score in SAMPLED for metrics in METRICS.values() if entry.name in metrics):
        raise UserError(
            f"{entry.here} scores several replies one by one, but the task's process_results scores a document as a "
            "whole. Let process_results return it under a name of its own."
        )
    checked_options(entry, accepted_options(entry.function) if entry.function else frozenset())
    return _bound(entry, None, {})


def _bind(entry: Entry) -> BoundMetric:
    function = _function(entry)
    if function is not None:
        options = checked_options(entry, accepted_options(function))
        least = min if entry.higher_is_better is False else max
        return _bound(entry, own_metric(function, options, where=entry.here, best=least), options)
    metric = _find(entry)
    if metric.score in SAMPLED:
        return bind_sampled(entry, metric, _aggregation(entry.aggregation or metric.aggregation, entry.here))
    options = checked_options(entry, keyword_options(metric.score))
    bound = _bound(entry, partial(metric.score, **options) if options else metric.score, options)
    _check_pairs(entry, metric, bound.aggregation)
    return bound


def _function(entry: Entry) -> Callable[..., Any] | None:
    """The user's code behind an entry, if it is any: a `!function`, the library evaluate, lm-eval's registry."""
    if entry.output_type != GENERATED:
        if entry.function is None:
            return None
        raise UserError(
            f"{entry.here}: an own function scores generated text, but the task's output_type is "
            f"{entry.output_type}. Score it in process_results, or take one of: "
            f"{known_names(METRICS[entry.output_type])}."
        )
    if entry.function is not None:
        return entry.function
    if entry.from_evaluate:
        return load_compute(entry.name, where=entry.here)
    if any(entry.name in metrics for metrics in METRICS.values()):
        return None
    found: Callable[..., Any] | None = registered("metric", entry.name)
    if found is not None or get_close_matches(entry.name, METRICS[GENERATED], cutoff=MISSPELT):
        return found
    known = known_names(METRICS[GENERATED])
    return load_compute(entry.name, where=f"{entry.here} is none of ours ({known}), so it")


def _find(entry: Entry) -> Metric:
    table = METRICS[entry.output_type]
    owners = [output_type for output_type, metrics in METRICS.items() if entry.name in metrics]
    if owners and entry.name not in table:
        raise UserError(
            f"{entry.here} belongs to output_type {' and '.join(owners)}, and the task's is {entry.output_type}. "
            f"Metrics for that: {known_names(table)}."
        )
    return lookup(table, entry.name, kind=f"metric of {entry.output_type}", where=entry.where)


def _bound(entry: Entry, score: Score | None, options: Mapping[str, Any]) -> BoundMetric:
    known = METRICS[entry.output_type].get(entry.name) or _same_name_elsewhere(entry.name)
    higher = entry.higher_is_better
    if higher is None:
        higher = known.higher_is_better if known else registered("higher_is_better", entry.name)
    aggregation = _aggregation_of(entry, known)
    is_ours = known is not None and entry.function is None and aggregation.name in AGGREGATIONS
    return BoundMetric(
        name=metric_key(entry, options, ()),
        score=score,
        aggregation=aggregation,
        higher_is_better=higher,
        options=options,
        takes="one" if is_ours and score is not None and entry.name != "bypass" else "any",
    )


def _aggregation_of(entry: Entry, known: Metric | None) -> Aggregation:
    """As given, else that of the name, else the mean; lm-eval refuses a metric of which it knows neither."""
    if entry.aggregation is not None:
        return _aggregation(entry.aggregation, entry.here)
    if known is not None:
        return AGGREGATIONS[known.aggregation]
    combine = registered("metric_aggregation", entry.name)
    if combine is not None:
        return Aggregation(function_name(combine), combine)
    logger.warning("%s: no aggregation is given; its mean is taken.", entry.here)
    return AGGREGATIONS["mean"]


def _same_name_elsewhere(name: str) -> Metric | None:
    return next((metrics[name] for metrics in METRICS.values() if name in metrics), None)


def _aggregation(given: Any, where: str) -> Aggregation:
    if callable(given):
        return Aggregation(function_name(given), given)
    if not isinstance(given, str):
        raise UserError(f"{where}: aggregation must be a name or !function, not {given!r}.")
    combine = None if given in AGGREGATIONS else registered("aggregation", given)
    if combine is not None:
        return Aggregation(given, combine)
    return lookup(AGGREGATIONS, given, kind="aggregation", where=where)


def _check_pairs(entry: Entry, metric: Metric, aggregation: Aggregation) -> None:
    """Numbers and pairs must meet their like before hours of inference, not after."""
    if AGGREGATIONS.get(aggregation.name) is not aggregation or aggregation.name == "bypass":
        return
    gives_pairs, wants_pairs = metric.score in PAIR_SCORES, aggregation.name in PAIR_AGGREGATIONS
    if gives_pairs == wants_pairs:
        return
    if entry.output_type == GENERATED and entry.name == "acc":
        raise UserError(
            f"{entry.here}: of generated text it only hands [gold, reply] to an aggregation of the task's own "
            "(!function), as in lm-eval. To count right replies, take exact_match."
        )
    kinds = {True: "pairs", False: "numbers"}
    fitting = [name for name in AGGREGATIONS if (name in PAIR_AGGREGATIONS) == gives_pairs]
    raise UserError(
        f"{entry.here} gives {kinds[gives_pairs]}, and aggregation '{aggregation.name}' combines "
        f"{kinds[wants_pairs]}. Name an own aggregation (!function), or one of: {known_names(fitting)}."
    )
