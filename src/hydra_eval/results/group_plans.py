"""Groups of tasks: which rows they get."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from hydra_eval.config.spec import shown_parameters
from hydra_eval.errors import UserError, did_you_mean, known_names
from hydra_eval.tasks.asks import Ask, told_apart
from hydra_eval.tasks.task import Task

AGGREGATION_KEYS = ("metric", "aggregation", "weight_by_size", "filter_list")
Variants: TypeAlias = dict[tuple[str, ...], Ask]
"""A group's rows: the cells of all tasks below it → what asks for them first."""
Content: TypeAlias = Mapping[str, Any]


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
    """Of its row; `group|n|seed=s` and the like where a run has the group several times."""
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
    seed: int | None = None
    """The one of `fewshot.seeds` that its tasks' examples are drawn with."""
    order: int = 0
    """Of its tasks' choices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """What all plans of a run are made from."""

    groups: Mapping[str, Content]
    cell_of: Mapping[Ask, Mapping[str, str]]
    """What is asked → key of each task → the cell that answers."""
    tasks: Mapping[str, Task]
    """By name of the cell."""
    names: Mapping[str, Mapping[tuple[str, ...], str]]
    """Group → cells below it → name of the row over them."""


def plan_groups(
    groups: Mapping[str, Content], selection: Mapping[str, Content], tasks: Sequence[Task]
) -> list[GroupPlan]:
    """One plan per group and set of cells. Raises UserError for an `aggregate_metric_list` that cannot be read."""
    means = {name: _means(group.get("aggregate_metric_list"), name) for name, group in groups.items()}
    cell_of = _cells_by_ask(tasks)
    variants = {name: _variants(group["tasks"], cell_of) for name, group in groups.items()}
    by_name = {task.name: task for task in tasks}
    names = {name: _row_names(name, variants[name], selection, by_name) for name in groups}
    known = _Known(groups=groups, cell_of=cell_of, tasks=by_name, names=names)
    return [_plan(name, ask, means[name], known) for name in groups for ask in variants[name].values()]


def _cells_by_ask(tasks: Sequence[Task]) -> dict[Ask, dict[str, str]]:
    found: dict[Ask, dict[str, str]] = {}
    for task in tasks:
        for ask in task.asks:
            found.setdefault(ask, {})[task.key] = task.name
    return found


def _variants(leaves: Sequence[str], cell_of: Mapping[Ask, Mapping[str, str]]) -> Variants:
    found: Variants = {}
    for ask, cells in cell_of.items():
        if leaves and all(leaf in cells for leaf in leaves):
            found.setdefault(_below(leaves, cells), ask)
    return found


def _below(leaves: Sequence[str], cells: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(cells[leaf] for leaf in leaves)


def _row_names(
    group: str, variants: Variants, selection: Mapping[str, Content], tasks: Mapping[str, Task]
) -> dict[tuple[str, ...], str]:
    """The group's own name for its only row; of several each says what is its own."""
    if len(variants) == 1:
        return dict.fromkeys(variants, group)
    counts = {below: _count(ask, [tasks[name] for name in below]) for below, ask in variants.items()}
    seeds, orders = {ask.seed for ask in variants.values()}, {ask.order for ask in variants.values()}
    names = {}
    for below, ask in variants.items():
        own = " (own shots)" if counts[below] is None and len(set(counts.values())) > 1 else ""
        names[below] = told_apart(
            f"{group}{shown_parameters(selection[ask.spec].get('parameters', {}))}{own}",
            shots=counts[below],
            seed=ask.seed if len(seeds) > 1 else None,
            order=ask.order if len(orders) > 1 else None,
        )
    return names


def _count(ask: Ask, below: Sequence[Task]) -> int | None:
    """The shots that are asked for, else those that all tasks have."""
    return _shared_count(below) if ask.shots is None else ask.shots


def _shared_count(below: Sequence[Task]) -> int | None:
    counts = {task.shots.n for task in below}
    return counts.pop() if len(counts) == 1 else None


def _plan(name: str, ask: Ask, means: tuple[GroupMean, ...], known: _Known) -> GroupPlan:
    group, cells = known.groups[name], known.cell_of[ask]
    below = _below(group["tasks"], cells)
    return GroupPlan(
        name=known.names[name][below],
        group=name,
        alias=group.get("alias") or name,
        members=tuple(_member(member, group["tasks"], cells, known) for member in group["members"]),
        tasks=below,
        aliases={cells[key]: alias for key, alias in (group.get("aliases") or {}).items()},
        means=means,
        version=str((group.get("metadata") or {}).get("version", "N/A")),
        shots=_shared_count([known.tasks[cell] for cell in below]),
        seed=ask.seed,
        order=ask.order,
    )


def _member(member: str, leaves: Sequence[str], cells: Mapping[str, str], known: _Known) -> str:
    """The row of one of a group's members: a task's cell, or an inner group's row over the same cells."""
    if member in leaves:
        return cells[member]
    return known.names[member].get(_below(known.groups[member]["tasks"], cells), member)


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
