"""Everything that is reported about a run: its rows in the order of the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hydra_eval.results.aggregate import TaskResult
from hydra_eval.results.families import OrderFamily, SeedFamily, over_orders, over_seeds
from hydra_eval.results.groups import GroupResult
from hydra_eval.tasks.asks import ORDER, SEED, without


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """Everything that is reported about a run."""

    tasks: tuple[TaskResult, ...] = ()
    groups: tuple[GroupResult, ...] = ()
    over_seeds: tuple[SeedFamily, ...] = ()
    over_orders: tuple[OrderFamily, ...] = ()

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

    def family_alias(self, family: SeedFamily | OrderFamily) -> str:
        """The same for rows that differ in one part of their names: without that part."""
        return without(SEED if isinstance(family, SeedFamily) else ORDER, self.alias(family.rows[0]))

    def outermost(self) -> list[TaskResult | GroupResult]:
        """The rows with scores that stand below no other such row: a group without a mean gives way to its members."""
        found: list[TaskResult | GroupResult] = []
        below: int | None = None
        for depth, row in self.in_order():
            if below is not None and depth > below:
                continue
            below = depth if row.metrics else None
            found += [row] if row.metrics else []
        return found


def report(tasks: Sequence[TaskResult], groups: Sequence[GroupResult], *, seed: int) -> Results:
    """Rows with the figures over those that differ in one thing alone; `seed` is the run's."""
    results = Results(tasks=tuple(tasks), groups=tuple(groups))
    rows = [row for _, row in results.in_order()]
    return replace(results, over_seeds=over_seeds(rows, tasks), over_orders=over_orders(rows, tasks, seed=seed))
