"""References to Python functions in configs become callables here, and nowhere else.

Two spellings: `!function FOLDER/file.name`, which the YAML reader writes for lm-eval's `!function file.name` tag, and
`package.module:name`.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from hydra_eval.errors import UserError, did_you_mean

TAG = "!function "


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
        return _attribute(_import(module_name, where=where), name, where=where)
    module_name, _, name = dotted.rpartition(".")
    if not module_name:
        raise UserError(f"{where}: '!function {dotted}' names no file; write '!function file.{dotted}'.")
    return _attribute(_module(Path(where).parent / folder, module_name, where=where), name, where=where)


def resolve_callable(reference: str, *, where: str) -> Callable[..., Any]:
    found = resolve_function(reference, where=where)
    if not callable(found):
        raise UserError(f"{where}: '{reference}' is a {type(found).__name__}, not a function.")
    return found  # type: ignore[no-any-return]


def _module(folder: Path, dotted: str, *, where: str) -> ModuleType:
    file = folder.joinpath(*dotted.split(".")).with_suffix(".py")
    if file.is_file():
        return _import(f"{_package_for(folder)}.{dotted}", where=where)
    try:
        known = importlib.util.find_spec(dotted) is not None
    except ModuleNotFoundError:
        known = False
    if not known:
        raise UserError(f"{where}: '!function {dotted}.…' wants the file {file}, which does not exist.")
    return _import(dotted, where=where)


def _package_for(folder: Path) -> str:
    """A package of its own for each task folder, so that two `utils.py` never clash and relative imports work."""
    folder = folder.resolve()
    name = f"hydra_eval_task_{hashlib.sha256(str(folder).encode()).hexdigest()[:12]}"
    if name not in sys.modules:
        package = ModuleType(name)
        package.__path__ = [str(folder)]
        sys.modules[name] = package
    return name


def _import(name: str, *, where: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except Exception as error:
        raise UserError(f"{where}: cannot import '{name}': {type(error).__name__}: {error}") from error


def _attribute(module: ModuleType, name: str, *, where: str) -> Any:
    if hasattr(module, name):
        return getattr(module, name)
    public = [known for known in vars(module) if not known.startswith("_")]
    raise UserError(f"{where}: {module.__file__} has no '{name}'.{did_you_mean(name, public)}")
