"""Data sets that a function of the task's makes (`custom_dataset`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hydra_eval.config.schema import ModelConfig, RunConfig
from hydra_eval.config.task_config import TaskConfig
from hydra_eval.errors import UserError
from hydra_eval.tasks.hooks import hook
from hydra_eval.tasks.local_loading import local_loading

TOKENIZER_KEYS = ("pretrained", "tokenizer", "revision", "subfolder", "trust_remote_code")
"""Settings of the model that such a function may want, by lm-eval's names: most measure texts in tokens."""


def custom_splits(task: TaskConfig, config: RunConfig) -> Mapping[str, Any]:
    """Split → rows, from `custom_dataset(**metadata, **dataset_kwargs)`, as lm-eval calls it."""
    make = hook(task.custom_dataset, f"{task.file}: custom_dataset")
    with local_loading(task, config.data):
        splits = make(**run_metadata(task, config.model), **(task.dataset_kwargs or {}))
    if not isinstance(splits, Mapping):
        kind = type(splits).__name__
        raise UserError(f"{task.file}: custom_dataset must give a mapping from splits to rows, but gave a {kind}.")
    return splits


def run_metadata(task: TaskConfig, model: ModelConfig) -> dict[str, Any]:
    """The model's settings, the task's `metadata` over them (command line included), and the task's file."""
    settings = {key: getattr(model, key) for key in TOKENIZER_KEYS}
    given = {key: value for key, value in settings.items() if value}
    return given | task.metadata | {"config_source": task.file}
