"""Functions of a task's own: references become callables when the task is built, and never before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hydra_eval.config.functions import is_function_reference, resolve_callable
from hydra_eval.errors import UserError


def hook(value: Any, where: str) -> Any:
    if value is not None and not callable(value):
        raise UserError(f"{where}={value!r} must be a !function.")
    return value


def with_references(value: Any) -> Any:
    """The same config with every reference to a function replaced by the function."""
    where = value.get("file", "task")

    def resolved(item: Any) -> Any:
        if is_function_reference(item):
            return resolve_callable(item, where=where)
        if isinstance(item, Mapping):
            return {key: resolved(inner) for key, inner in item.items()}
        return [resolved(inner) for inner in item] if isinstance(item, list) else item

    return resolved(value)
