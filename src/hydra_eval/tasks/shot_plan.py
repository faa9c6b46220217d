"""Which examples a task may show, and how they are worded: its `fewshot_config` under the run's choices."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from hydra_eval.config.functions import resolve_callable
from hydra_eval.config.schema import RunConfig
from hydra_eval.config.task_config import TaskConfig
from hydra_eval.data.documents import Documents, as_splits, evaluated_splits, numbered
from hydra_eval.data.task_data import TaskData
from hydra_eval.errors import UserError, did_you_mean, known_names
from hydra_eval.records import Doc
from hydra_eval.tasks.cells import Cell
from hydra_eval.tasks.hooks import hook
from hydra_eval.tasks.listed_shots import listed, rows_of, run_samples
from hydra_eval.tasks.shots import pool_split
from hydra_eval.tasks.task import ShotPlan, Task

log = logging.getLogger(__name__)

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
OWN_KEYS = ("fixed",)
"""Keys of ours there: `fixed` refuses another number of examples than the task's."""
FALLS_BACK = ("doc_to_text", "doc_to_target")
"""Keys of `fewshot_config` whose null means the task's own value, as in lm-eval."""


def shot_config_of(task: TaskConfig) -> dict[str, Any]:
    given = dict(task.fewshot_config or {})
    for key in FALLS_BACK:
        if given.get(key, "") is None:
            del given[key]
    for key in given:
        if key not in (known := (*SHOT_KEYS, *OWN_KEYS)):
            near = did_you_mean(str(key), known)
            raise UserError(f"{task.file}: fewshot_config has no key '{key}'.{near} Known: {', '.join(known)}.")
    return given


def pool_splits(task: TaskConfig, config: RunConfig, shot_config: Mapping[str, Any]) -> tuple[str, ...]:
    """The splits that examples come from; none where the run or the task file has samples of its own."""
    if config.fewshot.strategy == "samples":
        return ()
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
        rows = run_samples(config.fewshot) or rows_of(
            shot_config.get("samples"), f"{task.file}: fewshot_config.samples"
        )
        docs = tuple(Doc(task=cell.name, split="samples", index=index, row=row) for index, row in enumerate(rows))
        return Documents(docs=docs, splits=())
    process = hook(shot_config.get("process_docs", task.process_docs), f"{task.file}: fewshot_config.process_docs")
    found = [data.shelf.rows(data.source, split, process, purpose="examples") for split in splits]
    return Documents(docs=numbered(cell.name, found), splits=tuple(split.facts for split in found))


def shot_plan(cell: Cell, task: TaskConfig, config: RunConfig, pool: Documents) -> ShotPlan:
    shot_config = shot_config_of(task)
    chosen = config.fewshot.split or shot_config.get("split", task.fewshot_split)
    splits = pool_splits(task, config, shot_config)
    compat = config.fewshot.compat or "lm_eval"
    return ShotPlan(
        **run_choices(config),
        n=cell.shots,
        seed=shot_seed(cell, config, compat=compat),
        pool=pool.docs,
        pool_split="+".join(splits) or None,
        sampler=_sampler(shot_config.get("sampler", "default"), task),
        excludes_doc=as_splits(chosen) == as_splits(task.test_split),
        compat=compat,
        from_eval=cell.shots > 0 and not set(splits).isdisjoint(evaluated_splits(task)),
        docs_are_shuffled=config.data.shuffle_seed is not None,
    )


def run_choices(config: RunConfig) -> dict[str, Any]:
    """What the run says of the examples of all its tasks. Raises UserError where a strategy lacks what it shows."""
    fewshot = config.fewshot
    listed(fewshot)
    return {
        "strategy": fewshot.strategy,
        "function": resolve_callable(fewshot.strategy, where="fewshot.strategy") if ":" in fewshot.strategy else None,
        "on_leak": fewshot.on_leak,
        "order": fewshot.order,
        "shortfall": fewshot.shortfall,
        "indices": tuple(fewshot.indices or ()),
        "similarity": fewshot.similarity,
        "class_field": fewshot.class_field,
    }


def shot_seed(cell: Cell, config: RunConfig, *, compat: str = "lm_eval") -> int:
    """The cell's own seed, else `fewshot.seed`, else the run's; lighteval's own is 0."""
    given = config.fewshot.seed if cell.seed is None else cell.seed
    default = 0 if compat == "lighteval" else config.seed
    return default if given is None else given


def check_eval_pools(tasks: Sequence[Task], rule: str) -> None:
    """Says in one line, or refuses, that examples come from what is evaluated (`fewshot.on_eval_split`)."""
    plans = {task.base_name: task.shots for task in tasks if task.shots.from_eval}
    if not plans or rule == "allow":
        return
    text = f"{known_names(plans, shown=10)}: examples come from the split that is evaluated"
    if rule == "error":
        raise UserError(
            f"{text}, which fewshot.on_eval_split=error refuses. Name another split (fewshot.split), or ask for no "
            "examples (fewshot.n=0)."
        )
    leaks = any(plan.on_leak == "allow" for plan in plans.values())
    which = "a document may be its own example (fewshot.on_leak)" if leaks else "no document is its own example"
    log.warning("%s; %s. See fewshot.split and fewshot.on_eval_split.", text, which)


def _sampler(value: Any, task: TaskConfig) -> str:
    if isinstance(value, str):
        return value
    raise UserError(
        f"{task.file}: fewshot_config.sampler={value!r} must be a name. A way to pick of your own is a function "
        "(pool, doc, n, seed) -> places in the pool: fewshot.strategy=package.module:name."
    )
