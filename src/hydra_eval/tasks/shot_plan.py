"""Which examples a task may show, and how they are worded: its `fewshot_config` under the run's choices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hydra_eval.config.schema import RunConfig
from hydra_eval.config.task_config import TaskConfig
from hydra_eval.data.documents import Documents, as_splits, numbered
from hydra_eval.data.task_data import TaskData
from hydra_eval.errors import UserError, did_you_mean
from hydra_eval.records import Doc
from hydra_eval.tasks.cells import Cell
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


def pool_splits(task: TaskConfig, config: RunConfig, shot_config: Mapping[str, Any]) -> tuple[str, ...]:
    """The splits that examples come from; none where the task file has samples of its own."""
    own_split = shot_config.get("split", task.fewshot_split)
    if not own_split and not config.fewshot.split and shot_config.get("samples") is not None:
        return ()
    return as_splits(pool_split(task, own_split=own_split, override=config.fewshot.split))


def shot_pool(cell: Cell, task: TaskConfig, config: RunConfig, data: TaskData) -> Documents:
    """All rows that the cell's examples may be."""
    shot_config = shot_config_of(task)
    splits = pool_splits(task, config, shot_config)
    if not cell.shots:
        return Documents(docs=(), splits=())
    if not splits:
        rows = _samples(shot_config.get("samples"), f"{task.file}: fewshot_config.samples")
        docs = tuple(Doc(task=cell.name, split="samples", index=index, row=row) for index, row in enumerate(rows))
        return Documents(docs=docs, splits=())
    process = hook(shot_config.get("process_docs", task.process_docs), f"{task.file}: fewshot_config.process_docs")
    found = [data.shelf.rows(data.source, split, process, purpose="examples") for split in splits]
    return Documents(docs=numbered(cell.name, found), splits=tuple(split.facts for split in found))


def shot_plan(cell: Cell, task: TaskConfig, config: RunConfig, pool: Documents) -> ShotPlan:
    shot_config = shot_config_of(task)
    chosen = config.fewshot.split or shot_config.get("split", task.fewshot_split)
    return ShotPlan(
        strategy=config.fewshot.strategy,
        n=cell.shots,
        seed=shot_seed(cell, config),
        pool=pool.docs,
        pool_split="+".join(pool_splits(task, config, shot_config)) or None,
        sampler=shot_config.get("sampler", "default"),
        excludes_doc=as_splits(chosen) == as_splits(task.test_split),
        compat=config.fewshot.compat or "lm_eval",
        on_leak=config.fewshot.on_leak,
    )


def shot_seed(cell: Cell, config: RunConfig) -> int:
    """The cell's own seed, else `fewshot.seed`, else the run's."""
    given = config.fewshot.seed if cell.seed is None else cell.seed
    return config.seed if given is None else given


def _samples(value: Any, where: str) -> list[Mapping[str, Any]]:
    rows = value() if callable(value) else value
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        raise UserError(f"{where}: must be a list of rows (mappings), or a !function that gives one, not {rows!r}.")
    return rows
