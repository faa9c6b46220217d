"""References to Python functions in configs become callables here, and nowhere else.

Two spellings: `!function FOLDER/file.name`, which the YAML reader writes for lm-eval's `!function file.name` tag, and
`package.module:name`.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from hydra_eval.config.task_folders import task_folders
from hydra_eval.errors import UserError, did_you_mean, line_of
from hydra_eval.lm_eval_compat.finder import serve, tasks_module

TAG = "!function "
PACKAGE = "hydra_eval_tasks"
"""Above the modules of task folders that are no part of `lm_eval.tasks`."""
DOT = "\u2024"
"""Stands for a dot in a folder's name."""


def is_function_reference(value: object) -> bool:
    return isinstance(value, str) and value.startswith(TAG)


def function_reference(folder: Path, dotted: str) -> str:
    """The string that stands for `!function dotted` in a YAML file of `folder`."""
    return f"{TAG}{folder}/{dotted}"


def resolve_function(reference: str, *, where: str) -> Any:
    """The object that a reference names: a function, a class, a `functools.partial`.

    `where` is the task's file; a reference typed on the command line counts from that file's folder. Raises UserError,
    naming `where`, for a file, module or name that does not exist or cannot be imported.
    """
    folder, _, dotted = reference.removeprefix(TAG).rpartition("/")
    if ":" in dotted:
        module_name, _, name = dotted.partition(":")
        module = _imported(lambda: module_name, shown=module_name, where=where)
        return _attribute(module, name, where=where)
    module_name, _, name = dotted.rpartition(".")
    if not module_name:
        raise UserError(f"{where}: '!function {dotted}' names no file; write '!function file.{dotted}'.")
    return _attribute(_module(Path(where).parent / folder, module_name, where=where), name, where=where)


def resolve_callable(reference: str, *, where: str) -> Callable[..., Any]:
    found = resolve_function(reference, where=where)
    if not callable(found):
        raise UserError(f"{where}: '{reference}' is of type {type(found).__name__}, not a function.")
    return found  # type: ignore[no-any-return]


def _module(folder: Path, dotted: str, *, where: str) -> ModuleType:
    file = folder.joinpath(*dotted.split(".")).with_suffix(".py").resolve()
    serve(tuple(Path(place) for place in task_folders().split(os.pathsep)))
    if file.is_file():
        return _imported(lambda: tasks_module(file) or f"{_package_for(folder)}.{dotted}", shown=str(file), where=where)
    if not _is_installed(dotted):
        raise UserError(f"{where}: '!function {dotted}.…' wants the file {file}, which does not exist.")
    return _imported(lambda: dotted, shown=dotted, where=where)


def _is_installed(dotted: str) -> bool:
    try:
        return importlib.util.find_spec(dotted) is not None
    except ModuleNotFoundError:
        return False


def _package_for(folder: Path) -> str:
    """A package of its own for each folder, within one for the folder above: two `utils.py` never clash, and relative
    imports work upwards too. No `__init__.py` of a folder above is run."""
    folder = folder.resolve()
    above = folder.parent != folder
    name = f"{_package_for(folder.parent)}.{folder.name.replace('.', DOT)}" if above else PACKAGE
    if name not in sys.modules:
        package = ModuleType(name)
        package.__path__ = [str(folder)]
        sys.modules[name] = package
    return name


def _imported(name: Callable[[], str], *, shown: str, where: str) -> ModuleType:
    """The module of that name. What its code raises is told with the line that raised it."""
    try:
        return importlib.import_module(name())
    except (Exception, SystemExit) as error:
        raise UserError(f"{where}: cannot import {shown}: {told(error)}") from error


def told(error: BaseException) -> str:
    """What task code raised, and where: type, words, file and line, and what would do about a missing package."""
    place = None if isinstance(error, SyntaxError) else line_of(error)
    words = f"{type(error).__name__}: {str(error).rstrip('.')}"
    return f"{words}{f' ({place})' if place else ''}.{_remedy(error)}"


def _remedy(error: BaseException) -> str:
    """What would do about a module that is not there."""
    if not isinstance(error, ModuleNotFoundError) or not error.name or error.name.startswith((PACKAGE, "lm_eval")):
        return ""
    package = error.name.partition(".")[0]
    if _is_installed(package):
        return f" The installed version of '{package}' has no such part; this task needs another one."
    return f" Install the package '{package}'; a module of your own must be on Python's path (PYTHONPATH)."


def _attribute(module: ModuleType, name: str, *, where: str) -> Any:
    if hasattr(module, name):
        return getattr(module, name)
    public = [known for known in vars(module) if not known.startswith("_")]
    raise UserError(f"{where}: {module.__file__} has no '{name}'.{did_you_mean(name, public)}")
