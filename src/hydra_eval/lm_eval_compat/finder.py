"""Serves this package as `lm_eval` where lm-eval is not installed, and the task folders as `lm_eval.tasks`.

A part of transformers that task code still imports is served too, where the installed version has it no more.

The finder stands last among Python's: it is asked only for what no other finds, so that a real lm-eval always wins.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

SERVED = "lm_eval"
TASKS = f"{SERVED}.tasks"
SOURCES = {
    SERVED: "hydra_eval.lm_eval_compat",
    "transformers.data.metrics": "hydra_eval.lm_eval_compat.removed",
}
"""Package that may be missing → ours in its place."""


class StandIn(MetaPathFinder, Loader):
    """Modules of other packages' names that share the contents of ours."""

    folders: tuple[Path, ...] = ()

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> Any:
        served = next((name for name in SOURCES if fullname == name or fullname.startswith(f"{name}.")), None)
        if served is None or (fullname != served and not self._made(served)):
            return None
        source = _source(fullname, served)
        if _spec(source) is None:
            raise ModuleNotFoundError(
                f"No module named '{fullname}': {served} is not installed, and hydra-eval's stand-in for it has no "
                f"such part. If the task needs it: pip install {served.partition('.')[0]}",
                name=fullname,
            )
        spec = ModuleSpec(fullname, self, origin=source)
        if hasattr(importlib.import_module(source), "__path__"):
            spec.submodule_search_locations = self.search_locations(fullname)
        return spec

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None and module.__spec__.origin is not None
        source = importlib.import_module(module.__spec__.origin)
        module.__dict__.update({name: value for name, value in vars(source).items() if not name.startswith("__")})
        module.__file__ = source.__file__

    def search_locations(self, package: str) -> list[str]:
        """Where Python looks for submodules before it asks here: for tasks, in the task folders."""
        return [str(folder) for folder in self.folders] if package == TASKS else []

    def _made(self, package: str) -> bool:
        """Whether the package in use is ours: a real one that lacks a module must not be mixed with it."""
        return getattr(sys.modules.get(package), "__loader__", None) is self


def serve(folders: Sequence[Path]) -> None:
    """Make `lm_eval` importable where it is not installed, with `folders` as its tasks. May be called again."""
    finder = next((found for found in sys.meta_path if isinstance(found, StandIn)), None)
    if finder is None:
        finder = StandIn()
        sys.meta_path.append(finder)
    finder.folders = tuple(dict.fromkeys(root for folder in folders for root in (folder, *_trees_around(folder))))
    package = sys.modules.get(TASKS)
    if package is not None and package.__loader__ is finder:
        package.__path__ = finder.search_locations(TASKS)
        importlib.invalidate_caches()


def tasks_module(file: Path) -> str | None:
    """The name `lm_eval.tasks.…` under which Python finds this very file, if there is one.

    Code that a `!function` names and code that imports its neighbour by that name must share one module.
    """
    for root in _task_roots():
        if file.is_relative_to(root):
            parts = file.relative_to(root).with_suffix("").parts
            name = ".".join((TASKS, *parts))
            found = None if any("." in part for part in parts) else _spec(name)
            if found is not None and found.origin and Path(found.origin) == file:
                return name
    return None


def _task_roots() -> list[Path]:
    """The folders of `lm_eval.tasks`, without importing a real one."""
    spec = _spec(SERVED)
    if spec is None or spec.loader is None or isinstance(spec.loader, StandIn):
        return list(spec.loader.folders) if spec is not None and isinstance(spec.loader, StandIn) else []
    return [Path(place).resolve() / "tasks" for place in spec.submodule_search_locations or []]


def _source(fullname: str, served: str) -> str:
    return SOURCES[served] + fullname.removeprefix(served)


def _spec(name: str) -> ModuleSpec | None:
    try:
        return importlib.util.find_spec(name)
    except ModuleNotFoundError:
        return None


def _trees_around(folder: Path) -> list[Path]:
    """A folder inside a copy of lm-eval's tree may import from all of that tree."""
    return [parent for parent in folder.parents if parent.parts[-2:] == tuple(TASKS.split("."))]
