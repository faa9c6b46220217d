"""Groups of tasks: which rows they get, and their scores from those of the tasks below them.

Semantics: lm-eval 0.4.13, `lm_eval.api.group`; the standard error of a weighted mean follows from its weights.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hydra_eval.aggregate import MetricResult, TaskResult
from hydra_eval.errors import UserError, did_you_mean, known_names
from hydra_eval.tasks.task import Task

log = logging.getLogger(__name__)

AGGREGATION_KEYS = ("metric", "aggregation", "weight_by_size", "filter_list")
EVERY = "*"
"""Stands in `aggregate_metric_list` for every metric that a member has."""
SHOWN_NAMES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMean:
    """One entry of a group's `aggregate_metric_list`."""

    metric: str
    filters: tuple[str, ...] | None = None
    """None: every filter that a member has for this metric."""
    weighted: bool = True
    """By the number of documents; else every task counts the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupPlan:
    """A group as one SPEC of the run asks for it."""

    name: str
    """Of its row; `group|n` where a run has the group with several numbers of shots."""
    group: str
    alias: str
    members: tuple[str, ...]
    """Rows below it: tasks and groups."""
    tasks: tuple[str, ...]
    """Every task below it, at any depth."""
    aliases: Mapping[str, str]
    """What the group calls some of its tasks."""
    means: tuple[GroupMean, ...]
    version: str
    shots: int | None
    """None where its tasks have several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMetric(MetricResult):
    """One number of a group's row; `n` is the documents of all tasks that have the metric."""

    weighted: bool
    missing: tuple[str, ...]
    """Tasks of the group without this metric."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupResult:
    """Everything that is reported about one group."""

    plan: GroupPlan
    metrics: tuple[GroupMetric, ...]
    documents: int
    """Of all its tasks."""

    @property
    def name(self) -> str:
        return self.plan.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """Everything that is reported about a run's tasks and groups."""

    tasks: tuple[TaskResult, ...] = ()
    groups: tuple[GroupResult, ...] = ()

    def in_order(self) -> list[tuple[int, TaskResult | GroupResult]]:
        """(depth, row): each group before its members, a task of no group where it was asked for; each row once."""
        rows = {result.task.name: result for result in self.tasks}
        groups = {result.plan.name: result for result in self.groups}
        inner = {member for group in self.groups for member in group.plan.members}
        found: dict[str, int] = {}

        def visit(name: str, depth: int) -> None:
            if name not in found and (name in groups or name in rows):
                found[name] = depth
                for member in groups[name].plan.members if name in groups else ():
                    visit(member, depth + 1)

        roots = [group for group in self.groups if group.plan.name not in inner]
        for result in self.tasks:
            for root in (group for group in roots if result.task.name in group.plan.tasks):
                visit(root.plan.name, 0)
            visit(result.task.name, 0)
        return [(depth, groups[name] if name in groups else rows[name]) for name, depth in found.items()]

    def alias(self, row: TaskResult | GroupResult) -> str:
        """What to call a row in a table; a group may call its task otherwise than the task does itself."""
        if isinstance(row, GroupResult):
            return row.name.replace(row.plan.group, row.plan.alias, 1)
        given = next((group.plan.aliases[row.name] for group in self.groups if row.name in group.plan.aliases), None)
        return row.name.replace(row.task.base_name, given or row.task.config.get("task_alias") or row.task.base_name, 1)

    def outermost(self) -> list[TaskResult | GroupResult]:
        """The rows at the left edge of the table."""
        return [row for depth, row in self.in_order() if depth == 0]


def plan_groups(
    groups: Mapping[str, Mapping[str, Any]], selection: Mapping[str, Mapping[str, Any]], tasks: Sequence[Task]
) -> list[GroupPlan]:
    """One plan per group and set of cells. Raises UserError for an `aggregate_metric_list` that cannot be read."""
    means = {name: _means(group.get("aggregate_metric_list"), name) for name, group in groups.items()}
    by_name = {task.name: task for task in tasks}
    cells = {name: _cells(group["tasks"], tasks) for name, group in groups.items()}
    return [
        _plan(
            name,
            groups[name],
            {leaf: by_name[cell] for leaf, cell in zip(groups[name]["tasks"], below, strict=True)},
            suffix="" if len(cells[name]) == 1 else _suffix(spec, selection[spec]),
            means=means[name],
        )
        for name in groups
        for below, spec in cells[name].items()
    ]


def _cells(leaves: Sequence[str], tasks: Sequence[Task]) -> dict[tuple[str, ...], str]:
    """Names of the cells that a SPEC has for a group's tasks → the first SPEC that has them all."""
    found: dict[tuple[str, ...], str] = {}
    for spec in dict.fromkeys(spec for task in tasks for spec in task.specs):
        cell_of = {task.key: task.name for task in tasks if spec in task.specs}
        if leaves and all(leaf in cell_of for leaf in leaves):
            found.setdefault(tuple(cell_of[leaf] for leaf in leaves), spec)
    return found


def _plan(
    name: str,
    group: Mapping[str, Any],
    below: Mapping[str, Task],
    *,
    suffix: str,
    means: tuple[GroupMean, ...],
) -> GroupPlan:
    shots = {task.shots.n for task in below.values()}
    direct = [below[member].name if member in below else f"{member}{suffix}" for member in group["members"]]
    return GroupPlan(
        name=f"{name}{suffix}",
        group=name,
        alias=group.get("alias") or name,
        members=tuple(direct),
        tasks=tuple(task.name for task in below.values()),
        aliases={below[key].name: alias for key, alias in (group.get("aliases") or {}).items()},
        means=means,
        version=str((group.get("metadata") or {}).get("version", "N/A")),
        shots=shots.pop() if len(shots) == 1 else None,
    )


def _suffix(spec: str, content: Mapping[str, Any]) -> str:
    """What a SPEC says behind its name, which tells two rows of one group apart."""
    return spec.removeprefix(content["name"]) or " (own shots)"


def _means(listed: Any, group: str) -> tuple[GroupMean, ...]:
    entries = [] if listed is None else listed if isinstance(listed, list) else [listed]
    return tuple(_mean(entry, f"group '{group}': aggregate_metric_list") for entry in entries)


def _mean(entry: Any, where: str) -> GroupMean:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("metric"), str):
        raise UserError(f"{where}: an entry must be a mapping with the key metric, not {entry!r}.")
    for key in entry:
        if key not in AGGREGATION_KEYS:
            near = did_you_mean(str(key), AGGREGATION_KEYS)
            raise UserError(f"{where} has no key '{key}'.{near} Known: {known_names(AGGREGATION_KEYS)}.")
    how = entry.get("aggregation", "mean")
    if how != "mean" and not callable(how) and not str(how).startswith("!function"):
        raise UserError(f"{where}: aggregation={how!r}: only the mean of the tasks' scores is known.")
    weighted, filters = entry.get("weight_by_size", True), entry.get("filter_list")
    if not isinstance(weighted, bool):
        raise UserError(f"{where}: weight_by_size={weighted!r}: must be true or false.")
    return GroupMean(
        metric=entry["metric"],
        filters=None if filters is None else (filters,) if isinstance(filters, str) else tuple(filters),
        weighted=weighted,
    )


def aggregate_groups(plans: Sequence[GroupPlan], results: Sequence[TaskResult]) -> list[GroupResult]:
    """One result per plan, always from the tasks below it, never from other groups."""
    by_name = {result.task.name: result for result in results}
    return [_aggregate(plan, [by_name[name] for name in plan.tasks]) for plan in plans]


def _aggregate(plan: GroupPlan, results: Sequence[TaskResult]) -> GroupResult:
    metrics = []
    for mean, key in _wanted(plan.name, plan.means, results):
        metric = _combine(mean, key, results)
        if metric is None:
            log.warning("%s: no task of the group has the metric '%s,%s'.", plan.name, *key)
            continue
        if metric.missing:
            log.warning("%s: '%s,%s' is missing in %s.", plan.name, *key, _listed(metric.missing))
        metrics.append(metric)
    documents = sum(result.documents for result in results)
    return GroupResult(plan=plan, metrics=tuple(metrics), documents=documents)


def _wanted(
    name: str, means: Iterable[GroupMean], results: Sequence[TaskResult]
) -> Iterator[tuple[GroupMean, tuple[str, str]]]:
    """Each mean with the (metric, filter) pairs that it stands for."""
    present = list(dict.fromkeys((metric.metric, metric.filter) for result in results for metric in result.metrics))
    for mean in means:
        if mean.filters is not None:
            yield from ((mean, (mean.metric, name)) for name in mean.filters)
        elif mean.metric == EVERY:
            yield from ((mean, key) for key in present)
        elif keys := sorted(key for key in present if key[0] == mean.metric):
            yield from ((mean, key) for key in keys)
        else:
            log.warning("%s: no task of the group has the metric '%s'.", name, mean.metric)


def _combine(mean: GroupMean, key: tuple[str, str], results: Sequence[TaskResult]) -> GroupMetric | None:
    found = [
        (result, metric)
        for result in results
        for metric in result.metrics
        if (metric.metric, metric.filter) == key and isinstance(metric.value, int | float)
    ]
    if not found:
        return None
    sizes = [result.documents for result, _ in found]
    weights = sizes if mean.weighted else [1] * len(sizes)
    have = {result.task.name for result, _ in found}
    error = mean_stderr([metric.stderr for _, metric in found], weights)
    return GroupMetric(
        metric=key[0],
        filter=key[1],
        value=sum(metric.value * weight for (_, metric), weight in zip(found, weights, strict=True)) / sum(weights),
        stderr=error,
        stderr_by="none" if error is None else "propagation",
        n=sum(sizes),
        higher_is_better=agreed(metric.higher_is_better for _, metric in found),
        weighted=mean.weighted,
        missing=tuple(result.task.name for result in results if result.task.name not in have),
    )


def mean_stderr(errors: Sequence[float | None], weights: Sequence[float]) -> float | None:
    """Standard error of the weighted mean of independent scores: √Σ(wᵢ·seᵢ)² / Σwᵢ; None where one has none."""
    if None in errors:
        return None
    known = [error for error in errors if error is not None]
    return math.sqrt(sum((weight * error) ** 2 for weight, error in zip(weights, known, strict=True))) / sum(weights)


def agreed(directions: Iterable[bool | None]) -> bool | None:
    """The direction that all share, else None."""
    distinct = set(directions)
    return distinct.pop() if len(distinct) == 1 else None


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN_NAMES} more" if len(names) > SHOWN_NAMES else ""
    return ", ".join(names[:SHOWN_NAMES]) + more
