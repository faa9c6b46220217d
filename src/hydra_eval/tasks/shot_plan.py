"""Which examples a task may show, and how they are worded: its `fewshot_config` under the run's choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hydra_eval.config.schema import RunConfig
from hydra_eval.config.task_config import TaskConfig
from hydra_eval.errors import UserError, did_you_mean
from hydra_eval.records import Doc
from hydra_eval.tasks.cells import Cell
from hydra_eval.tasks.docs import rows_of
from hydra_eval.tasks.hooks import hook
from hydra_eval.tasks.shots import pool_split
from hydra_eval.tasks.task import ShotPlan

SHOT_KEYS = (
    "sampler",
    "split",
    "process_docs",
    "fewshot_indices",
    "samples",
    "doc_to_text",
    "doc_to_choice",
    "doc_to_target",
    "gen_prefix",
    "fewshot_delimiter",
    "target_delimiter",
)
"""Keys of a task's `fewshot_config` (lm-eval's)."""
FALLS_BACK = ("doc_to_text", "doc_to_target")
"""Keys of `fewshot_config` whose null means the task's own value, as in lm-eval."""


def shot_config_of(task: TaskConfig) -> dict[str, Any]:
    given = dict(task.fewshot_config or {})
    for key in FALLS_BACK:
        if given.get(key, "") is None:
            del given[key]
    for key in given:
        if key not in SHOT_KEYS:
            near = did_you_mean(str(key), SHOT_KEYS)
            raise UserError(f"{task.file}: fewshot_config has no key '{key}'.{near} Known: {', '.join(SHOT_KEYS)}.")
    return given


def shot_plan(
    cell: Cell, task: TaskConfig, config: RunConfig, shot_config: Mapping[str, Any], splits: Mapping[str, Any]
) -> ShotPlan:
    own_split = shot_config.get("split", task.fewshot_split)
    samples = None if own_split or config.fewshot.split else shot_config.get("samples")
    split = None if samples is not None else pool_split(task, own_split=own_split, override=config.fewshot.split)
    rows: Sequence[Mapping[str, Any]] = ()
    if cell.shots and split is not None:
        process = hook(shot_config.get("process_docs", task.process_docs), f"{task.file}: fewshot_config.process_docs")
        rows = rows_of(splits, split, task, process)
    elif cell.shots:
        rows = _samples(samples, f"{task.file}: fewshot_config.samples")
    return ShotPlan(
        strategy=config.fewshot.strategy,
        n=cell.shots,
        seed=config.seed if config.fewshot.seed is None else config.fewshot.seed,
        pool=tuple(Doc(task=cell.name, split=split or "samples", index=i, row=row) for i, row in enumerate(rows)),
        pool_split=split,
        sampler=shot_config.get("sampler", "default"),
        excludes_doc=(config.fewshot.split or own_split) == task.test_split,
    )


def _samples(value: Any, where: str) -> list[Mapping[str, Any]]:
    rows = value() if callable(value) else value
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        raise UserError(f"{where}: must be a list of rows (mappings), or a !function that gives one, not {rows!r}.")
    return rows
