"""results.json as flat numbers for a tracker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

UNFILTERED = "none"
RUN_SECTIONS = ("seconds", "efficiency", "numerics")
FAMILIES = ("over_seeds", "over_orders")
PLACE = ("task", "shots", "seed", "order")
"""What tells two rows of the results apart."""


def summary_metrics(results: Mapping[str, Any]) -> dict[str, float | str]:
    """`<task>/<metric>` (with `,<filter>` unless it is `none`), `<task>/n`, `<task>/overflow/<count>`,
    `over_seeds/<task>/<metric>/<figure>` and the same over orders, and the run's own figures.

    What is not a number (an alias, a standard error of "N/A") is left out, so that a key has one type in all runs.
    """
    summary: dict[str, float | str] = {}
    for part in ("groups", "results"):
        for task, entry in results.get(part, {}).items():
            summary.update(_task_metrics(task, entry))
    ours = results.get("hydra_eval", {})
    return summary | dict(_overflow_figures(ours)) | dict(_family_figures(ours)) | _run_figures(ours)


def cell_table(results: Mapping[str, Any]) -> tuple[list[str], list[list[Any]]]:
    """Column names, and a list of values per row of the results and metric: what a plot of score against shots needs.

    A standard error that there is none of is None, and so is a value that is no number.
    """
    cells = results.get("hydra_eval", {}).get("cells", {})
    lines = [
        [*(place[part] for part in PLACE), *scored]
        for name, place in cells.items()
        for scored in _scored(results["results"][name])
    ]
    return [*PLACE, "filter", "metric", "value", "stderr"], lines


def _scored(entry: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    for key, value in entry.items():
        metric, comma, filter_name = key.partition(",")
        error = f"{metric}_stderr,{filter_name}"
        if comma and error in entry:
            yield filter_name, metric, _or_none(value), _or_none(entry[error])


def _or_none(value: Any) -> float | None:
    return float(value) if _is_number(value) else None


def metric_key(metric: str, filter_name: str) -> str:
    """lm-eval's `metric,filter`, shortened where no filter was named."""
    return metric if filter_name == UNFILTERED else f"{metric},{filter_name}"


def _task_metrics(task: str, entry: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for key, value in entry.items():
        metric, comma, filter_name = key.partition(",")
        if not _is_number(value):
            continue
        if comma:
            yield f"{task}/{metric_key(metric, filter_name)}", value
        elif key == "sample_len":
            yield f"{task}/n", value


def _overflow_figures(ours: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Of the tasks that had prompts too long for the model's window."""
    for task, facts in ours.get("overflow", {}).items():
        if facts["documents"]:
            yield from _leaves(f"{task}/overflow", facts)


def _family_figures(ours: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for section in FAMILIES:
        for name, family in ours.get(section, {}).items():
            for key, figures in family["metrics"].items():
                metric, _, filter_name = key.partition(",")
                yield from _leaves(f"{section}/{name}/{metric_key(metric, filter_name)}", figures)
            for filter_name, found in family.get("positions", {}).items():
                yield f"{section}/{name}/{metric_key('flip_rate', filter_name)}", found["flip_rate"]


def _run_figures(ours: Mapping[str, Any]) -> dict[str, float | str]:
    figures: dict[str, float | str] = {
        name: value for section in RUN_SECTIONS for name, value in _leaves(section, ours.get(section, {}))
    }
    if isinstance(status := ours.get("status"), str):
        figures["status"] = status
    return figures


def _leaves(path: str, value: Any) -> Iterator[tuple[str, float]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(f"{path}/{key}", inner)
    elif _is_number(value):
        yield path, value


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
