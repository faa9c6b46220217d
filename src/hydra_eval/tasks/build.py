"""From the composed config to tasks ready to run, whatever they are written in."""

from __future__ import annotations

from hydra_eval.config.schema import RunConfig
from hydra_eval.config.task_config import TaskConfig, task_config
from hydra_eval.errors import UserError
from hydra_eval.tasks.cells import Cell, cells
from hydra_eval.tasks.hooks import with_references
from hydra_eval.tasks.task import Task
from hydra_eval.tasks.yaml_task import build_yaml_task


def build_tasks(config: RunConfig) -> list[Task]:
    """Every task of the run, in the order asked for.

    Raises UserError for whatever is wrong in a task file or its data, before any model is loaded.
    """
    if not config.selection:
        raise UserError("No task chosen: write task=NAME; 'hydra-eval run --help' lists the names.")
    checked = {key: task_config(with_references(content)) for key, content in config.tasks.items()}
    return [build_task(cell, checked[cell.key], config) for cell in cells(config, checked)]


def build_task(cell: Cell, task: TaskConfig, config: RunConfig) -> Task:
    """Load one cell's data and resolve everything about it."""
    return build_yaml_task(cell, task, config)
