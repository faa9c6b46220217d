"""A task's keys as task classes see them: fields that can be read and set, with lm-eval's defaults."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from hydra_eval.config.task_config import TaskConfig as Schema

OURS = ("file", "python_class", "options", "table")
"""Fields of our schema that no task file has."""
GREEDY: Mapping[str, Any] = {"temperature": 0.0, "do_sample": False, "max_gen_toks": 256}


def _defaults() -> dict[str, Any]:
    blank = Schema(task="", file="")
    return {field.name: getattr(blank, field.name) for field in dataclasses.fields(Schema) if field.name not in OURS}


DEFAULTS: Mapping[str, Any] = {**_defaults(), "task": None, "metadata": None}


class TaskConfig:
    """`config.repeats` and `config["repeats"]` are the same; unknown keys are a TypeError, as in lm-eval."""

    def __init__(self, **given: Any) -> None:
        for key in given:
            if key not in DEFAULTS:
                raise TypeError(f"TaskConfig has no key '{key}'")
        vars(self).update(deepcopy(dict(DEFAULTS)) | given)
        if self["output_type"] == "generate_until":
            kwargs = dict(GREEDY) if self["generation_kwargs"] is None else self["generation_kwargs"]
            self["generation_kwargs"] = {"until": [self["fewshot_delimiter"]], **kwargs}

    def __getattr__(self, key: str) -> Any:
        raise AttributeError(f"TaskConfig has no key '{key}'")  # reached for names that are not in `vars`

    def __getitem__(self, key: str) -> Any:
        return getattr(self, key)

    def __setitem__(self, key: str, value: Any) -> None:
        setattr(self, key, value)

    def get(self, key: str, default: Any = None) -> Any:
        return getattr(self, key, default)

    def to_dict(self) -> dict[str, Any]:
        return {key: value for key, value in vars(self).items() if value is not None}
