"""results.json as flat numbers for a tracker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

UNFILTERED = "none"
RUN_SECTIONS = ("seconds", "efficiency")


def summary_metrics(results: Mapping[str, Any]) -> dict[str, float | str]:
    """`<task>/<metric>` (with `,<filter>` unless it is `none`), `<task>/n`, and the run's own figures.

    What is not a number (an alias, a standard error of "N/A") is left out, so that a key has one type in all runs.
    """
    summary: dict[str, float | str] = {}
    for part in ("groups", "results"):
        for task, entry in results.get(part, {}).items():
            summary.update(_task_metrics(task, entry))
    return summary | _run_figures(results.get("hydra_eval", {}))


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
