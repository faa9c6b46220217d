"""Reads one lm-eval task YAML: `include` merged, `!function` kept as a reference string, nothing imported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from hydra_eval.config.functions import function_reference
from hydra_eval.errors import UserError

Read: TypeAlias = Callable[[Path], Mapping[str, Any]]
"""Gives a file's own keys."""


def read_raw(path: Path) -> dict[str, Any]:
    """The file's own keys, without its includes.

    Raises UserError with file, line and column for text that is not YAML, or not a mapping.
    """
    try:
        content = yaml.load(path.read_bytes(), Loader=_loader_for(path.parent))
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, ValueError) as error:  # ValueError: bytes that are no text, or a 13th month
        raise UserError(f"{path}: not valid YAML: {error}") from error
    if not isinstance(content, dict):
        raise UserError(f"{path}: a task file is a mapping of keys, but this one holds a {type(content).__name__}.")
    return content


def read_task_yaml(path: Path, *, read_base: Read = read_raw) -> dict[str, Any]:
    """The file's keys over those of what it includes: later includes win, the file itself wins over all.

    Merging is by top-level key, as in lm-eval. `read_base` reads what is included. Raises UserError for a missing
    include or a true cycle; a base that is reached twice, by two ways, is read twice.
    """
    path = _resolved(path)
    return with_includes(read_raw(path), path, read_base=read_base)


def with_includes(
    own: Mapping[str, Any], path: Path, *, read_base: Read = read_raw, parents: tuple[Path, ...] = ()
) -> dict[str, Any]:
    """`own`, the keys that the file `path` holds somewhere, over those of the files that its `include` names."""
    parents = (*parents, path)
    merged: dict[str, Any] = {}
    for include in _names(own.get("include"), path):
        base = _resolved(path.parent / include)
        if base in parents:
            raise UserError(f"{base}: includes itself: {' -> '.join(str(part) for part in (*parents, base))}")
        if not base.is_file():
            raise UserError(f"{path}: include '{include}' wants the file {base}, which does not exist.")
        inherited = with_includes(read_base(base), base, read_base=read_base, parents=parents)
        inherited.pop("task_list", None)  # concerns the included file alone, as in lm-eval
        merged |= inherited
    return merged | {key: value for key, value in own.items() if key != "include"}


def _names(value: Any, path: Path) -> list[str]:
    """One file name or a list of them."""
    names = [] if value is None else value if isinstance(value, list) else [value]
    for name in names:
        if not isinstance(name, str):
            raise UserError(f"{path}: include: {name!r} is given, but it must be a file's name.")
    return names


@lru_cache(maxsize=256)
def _loader_for(folder: Path) -> type[yaml.SafeLoader]:
    """A loader that resolves `!function` against the folder of the file that holds the tag."""
    where = _real_folder(folder)

    class TaskLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        pass

    def function_tag(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> str:
        return function_reference(where, str(loader.construct_scalar(node)))

    TaskLoader.add_constructor("!function", function_tag)
    return TaskLoader


def _resolved(path: Path) -> Path:
    """`path.resolve()`, without asking anew for every folder above it: a tree has thousands of files."""
    return path.resolve() if path.name == ".." or path.is_symlink() else _real_folder(path.parent) / path.name


@lru_cache(maxsize=4096)
def _real_folder(folder: Path) -> Path:
    return folder.resolve()


def names_of(content: Mapping[str, Any]) -> tuple[str, str] | None:
    """(kind, name) of what a file defines: class, group or task; None for a base to include.

    A file with `class` is a Python task, also where it names a group, as in lm-eval.
    """
    for key in ("task", "group"):
        if isinstance(content.get(key), str) and not content[key].strip():
            raise UserError(f"{key}: '{content[key]}' is no name.")
    if "class" in content and isinstance(content.get("task"), str):
        return "class", content["task"]
    if "group" in content:
        return "group", str(content["group"])
    if isinstance(content.get("task"), str):
        return "task", content["task"]
    return None
