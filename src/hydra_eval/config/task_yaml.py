"""Reads one lm-eval task YAML: `include` merged, `!function` kept as a reference string, nothing imported."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from hydra_eval.config.functions import function_reference
from hydra_eval.errors import UserError


def read_raw(path: Path) -> dict[str, Any]:
    """The file's own keys, without its includes.

    Raises UserError with file, line and column for text that is not YAML, or not a mapping.
    """
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=_loader_for(path))
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, ValueError) as error:  # ValueError: bytes that are no text, or a 13th month
        raise UserError(f"{path}: not valid YAML: {error}") from error
    if not isinstance(content, dict):
        raise UserError(f"{path}: a task file is a mapping of keys, but this one holds a {type(content).__name__}.")
    return content


def read_task_yaml(path: Path, *, parents: tuple[Path, ...] = ()) -> dict[str, Any]:
    """The file's keys over those of what it includes: later includes win, the file itself wins over all.

    Merging is by top-level key, as in lm-eval. Raises UserError for a missing include or a true cycle.
    """
    path = path.resolve()
    if path in parents:
        raise UserError(f"{path}: includes itself: {' -> '.join(str(part) for part in (*parents, path))}")
    own = read_raw(path)
    merged: dict[str, Any] = {}
    for include in _names(own.pop("include", None), path):
        base = path.parent / include
        if not base.is_file():
            raise UserError(f"{path}: include '{include}' wants the file {base}, which does not exist.")
        inherited = read_task_yaml(base, parents=(*parents, path))
        inherited.pop("task_list", None)
        merged |= inherited
    return merged | own


def _names(value: Any, path: Path) -> list[str]:
    """One file name or a list of them."""
    names = [] if value is None else value if isinstance(value, list) else [value]
    for name in names:
        if not isinstance(name, str):
            raise UserError(f"{path}: include: {name!r} is given, but it must be a file's name.")
    return names


def _loader_for(path: Path) -> type[yaml.SafeLoader]:
    """A loader that resolves `!function` against the folder of the file that holds the tag."""

    class TaskLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        pass

    def function_tag(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> str:
        return function_reference(path.parent.resolve(), str(loader.construct_scalar(node)))

    TaskLoader.add_constructor("!function", function_tag)
    return TaskLoader


def names_of(content: Mapping[str, Any]) -> tuple[str, str] | None:
    """(kind, name) of what a file defines: a Python task, a group, a task; None for a base to include."""
    if "class" in content and isinstance(content.get("task"), str):
        return "task", content["task"]
    if "group" in content:
        return "group", str(content["group"])
    if isinstance(content.get("task"), str):
        return "task", content["task"]
    return None
