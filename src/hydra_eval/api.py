"""The program from Python: `evaluate(["gsm8k|5"], ["model=llama3"])`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from hydra_eval.app import OUTPUTS
from hydra_eval.commands.composed import composed
from hydra_eval.config.command_line import quoted
from hydra_eval.config.folder import DRY_RUN, RESULTS, RunFolder, named_folder, new_folder
from hydra_eval.config.schema import RunConfig
from hydra_eval.config.task_config import fill_defaults, task_key
from hydra_eval.errors import UserError
from hydra_eval.fleet import JobFailed, start_fleet
from hydra_eval.launch import Launch
from hydra_eval.process import quiet_libraries
from hydra_eval.runner import ModelShelf
from hydra_eval.screen import Screen

Task = str | Mapping[str, Any]


def evaluate(
    tasks: Sequence[Task], overrides: Sequence[str] = (), *, folder: str | Path | None = None
) -> dict[str, Any]:
    """Run an evaluation and return what its results.json holds, on every process of the launch.

    A task is what `task=` takes (`gsm8k`, `gsm8k|5`, `mmlu_*`), or a mapping with the keys of a task file, in which a
    function stands where the file would have `!function`; its data files count from the working folder. `overrides` are
    those of the command line (`model=llama3`, `limit=10`). The run goes into `folder`, by default a new one below
    `outputs/`. Under `accelerate launch` every process calls this with the same arguments. With `dry_run=true` among
    the overrides nothing is run, and what comes back is the content of its dry_run.json.

    Raises UserError for what the caller can mend, else JobFailed with the trace of the process that failed.
    """
    quiet_libraries()
    try:
        return _evaluate(tasks, overrides, folder)
    except JobFailed as error:
        if error.trace is None:
            raise UserError(str(error)) from error
        error.add_note(error.trace)
        raise


def _evaluate(tasks: Sequence[Task], overrides: Sequence[str], folder: str | Path | None) -> dict[str, Any]:
    fleet = start_fleet()
    with fleet.stage("config"):
        config = _config(tasks, overrides)
    held: RunFolder | None = None
    with fleet.stage("folder"):
        held = _folder(folder) if fleet.is_main else None
    path: Path = fleet.exchange("folder", held.path if held else None, to_all=True)[0]
    launch = Launch(fleet=fleet, models=ModelShelf(), screen=Screen(shown=fleet.is_main))
    launch.evaluate(config, path, overrides=overrides)
    written = path / (DRY_RUN if config.dry_run else RESULTS)
    found = json.loads(written.read_text(encoding="utf-8")) if fleet.is_main else None
    results: dict[str, Any] = fleet.exchange("results", found, to_all=True)[0]
    return results


def _config(tasks: Sequence[Task], overrides: Sequence[str]) -> RunConfig:
    """The composed config with the mappings among `tasks` in it, in the order given."""
    specs = [task for task in tasks if isinstance(task, str)]
    chosen = f"task=[{','.join(map(quoted, specs))}]" if specs else "~task"
    config = composed([chosen, *overrides])
    selection, config.selection = config.selection, {}
    for task in tasks:
        if isinstance(task, str):
            config.selection[task] = selection[task]
        else:
            _add(task, config)
    return config


def _add(content: Mapping[str, Any], config: RunConfig) -> None:
    name = content.get("task")
    if not isinstance(name, str):
        raise UserError(f"a task given as a mapping needs its name under 'task': {dict(content)!r}")
    key = task_key(name)
    if key in config.tasks:
        raise UserError(f"two of the tasks are called '{name}'; give one of them another name.")
    config.tasks[key] = fill_defaults(content, path=Path.cwd() / f"{name}.yaml")
    config.selection[name] = {"name": name, "tasks": {key: name}, "shots": None, "parameters": {}}


def _folder(folder: str | Path | None) -> RunFolder:
    now = datetime.now()
    return named_folder(Path(folder)) if folder else new_folder(OUTPUTS / f"{now:%Y-%m-%d}" / f"{now:%H-%M-%S}-python")
