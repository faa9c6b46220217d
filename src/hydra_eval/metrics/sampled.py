"""Binds the metrics over several replies to the score of a single one, and to their k and n."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from hydra_eval.errors import UserError, known_names, lookup
from hydra_eval.metrics import METRICS, PAIR_SCORES, SAMPLED
from hydra_eval.metrics.base import Aggregation, BoundMetric, GenerationOutcome, Metric, Score
from hydra_eval.metrics.entries import Entry
from hydra_eval.metrics.options import checked_options, keyword_options, required_options
from hydra_eval.metrics.own import accepted_options, own_metric
from hydra_eval.metrics.parameters import metric_key

SHOWN = ("k", "n")
"""Options that stand in the metric's key."""
NO_OPTIONS = ("aggregation", "higher_is_better", "hf_evaluate")
"""Keys of an entry that say nothing about the score of one reply."""
LEAST_K = {"mg-pass@k": 2}
"""The mean over thresholds above one half is empty for k = 1."""


def scored_as_task(spec: Mapping[str, Any], own: Any) -> dict[str, Any]:
    """`metrics` of the command line, those over several replies with the score by which the task itself scores one.

    That is its first metric with a number for each reply, options included: what exact_match is to ignore, say. A
    `score` given beside the metric wins.
    """
    entries = own if isinstance(own, list) else []
    scores = [entry for entry in entries if isinstance(entry, Mapping) and _scores_one(entry.get("metric"))]
    if not scores:
        return dict(spec)
    options = {key: value for key, value in scores[0].items() if key not in NO_OPTIONS}
    options["score"] = options.pop("metric")
    return {name: _with_defaults(name, entry, options) for name, entry in spec.items()}


def _with_defaults(name: str, entry: Any, options: Mapping[str, Any]) -> Any:
    given = entry if isinstance(entry, Mapping) else {}
    metric = METRICS["generate_until"].get(str(given.get("metric", name)))
    is_open = metric is not None and metric.score in SAMPLED and "score" not in given
    return {**options, **given, "metric": given.get("metric", name)} if is_open else entry


def _scores_one(metric: Any) -> bool:
    return callable(metric) or metric in _scores_of_one()


def sampled_options(entry: Entry, metric: Metric) -> frozenset[str] | None:
    """The metric's own options and those of the score of one reply; None where that takes any."""
    single = _single_options(entry)
    return None if single is None else keyword_options(metric.score) | single


def bind_sampled(entry: Entry, metric: Metric, aggregation: Aggregation) -> BoundMetric:
    """`entry.options`: k, n, thresholds; score, the score of one reply (a name, or !function); and that one's own."""
    options = checked_options(entry, sampled_options(entry, metric))
    own = {name: options[name] for name in keyword_options(metric.score) - {"score"} if name in options}
    _check_own(entry, metric, own)
    single = _single(entry, {name: value for name, value in options.items() if name not in own and name != "score"})
    name = metric_key(entry, {key: value for key, value in options.items() if key != "thresholds"}, SHOWN)
    needed = own.get("n") or own.get("k") or 1
    score = _with_enough(partial(metric.score, score=single, **own), name, needed)
    higher = metric.higher_is_better if entry.higher_is_better is None else entry.higher_is_better
    return BoundMetric(
        name=name,
        score=score,
        aggregation=aggregation,
        higher_is_better=higher,
        options=options,
        takes="all",
        replies=needed,
    )


def _single_options(entry: Entry) -> frozenset[str] | None:
    given = entry.options.get("score", "exact_match")
    return accepted_options(given) if callable(given) else keyword_options(_named_score(entry, given))


def _single(entry: Entry, options: Mapping[str, Any]) -> Score:
    given = entry.options.get("score", "exact_match")
    if callable(given):
        return own_metric(given, options, where=entry.here)
    return partial(_named_score(entry, given), **options)


def _scores_of_one() -> dict[str, Score]:
    """Those of our metrics that give a number for one reply."""
    return {
        known: metric.score
        for known, metric in METRICS["generate_until"].items()
        if metric.score not in SAMPLED | PAIR_SCORES and known != "bypass"
    }


def _named_score(entry: Entry, name: Any) -> Score:
    if not isinstance(name, str):
        raise UserError(f"{entry.here}: score must be a name or !function, not {name!r}.")
    return lookup(_scores_of_one(), name, kind="score of one reply", where=entry.here)


def _check_own(entry: Entry, metric: Metric, own: Mapping[str, Any]) -> None:
    for name in sorted(required_options(metric.score) - {"score"} - set(own)):
        raise UserError(
            f"{entry.here} needs the option '{name}': write task=NAME@{name}=…, or {name} beside the metric. "
            f"It takes: {known_names(keyword_options(metric.score))}."
        )
    for name, least in (("k", LEAST_K.get(entry.name, 1)), ("n", 1)):
        value = own.get(name)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < least):
            raise UserError(f"{entry.here}: {name}={value!r} must be a whole number from {least}.")
    if own.get("n") is not None and own.get("k", 1) > own["n"]:
        raise UserError(f"{entry.here}: k={own['k']} is more than n={own['n']}, the number of replies.")
    _check_thresholds(entry, own.get("thresholds", 0.5))


def _check_thresholds(entry: Entry, given: Any) -> None:
    for threshold in given if isinstance(given, list | tuple) else [given]:
        is_number = isinstance(threshold, int | float) and not isinstance(threshold, bool)
        if not is_number or not 0 <= threshold <= 1:
            raise UserError(f"{entry.here}: thresholds={given!r} must be shares of k, numbers from 0 to 1.")


def _with_enough(score: Score, name: str, needed: int) -> Callable[[GenerationOutcome], Any]:
    """The score after a check that the pipeline left enough replies; a mapping's keys get the metric's name before."""

    def checked(outcome: GenerationOutcome) -> Any:
        if len(outcome.replies) < needed:
            raise UserError(
                f"metric '{name}' needs {needed} replies, but the filter pipeline leaves {len(outcome.replies)}. "
                "Filter each of them, and choose one only with take_first at the end."
            )
        value = score(outcome)
        return {f"{name}&{key}": one for key, one in value.items()} if isinstance(value, Mapping) else value

    return checked
