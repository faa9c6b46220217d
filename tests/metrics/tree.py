"""Every task of lm-eval's tree as its YAML says it, with stand-ins for the functions it names: nothing is imported."""

from __future__ import annotations

import ast
import importlib.util
import inspect
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from hydra_eval.config.functions import TAG, is_function_reference
from hydra_eval.config.task_yaml import names_of, read_raw

raw = cache(read_raw)
"""A base is included by hundreds of files."""


def tree_folder() -> Path | None:
    """The folder of lm-eval's tasks, found without importing lm-eval; None where it is not installed."""
    found = importlib.util.find_spec("lm_eval")
    return Path(str(found.origin)).parent / "tasks" if found else None


def tasks_of(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """(name, content) of every task that is written as YAML, includes merged."""
    for path in sorted(folder.rglob("*.yaml")):
        content = merged(path.resolve())
        found = names_of(content)
        if found is not None and found[0] == "task" and "class" not in content:
            yield found[1], content


def merged(path: Path) -> dict[str, Any]:
    own = dict(raw(path))
    includes = own.pop("include", None) or []
    inherited: dict[str, Any] = {}
    for include in includes if isinstance(includes, list) else [includes]:
        inherited |= merged((path.parent / include).resolve())
    return inherited | own


def with_stand_ins(value: Any) -> Any:
    """The same value with a stand-in for each function, which has the signature of the function it stands for."""
    if is_function_reference(value):
        return stand_in(value)
    if isinstance(value, Mapping):
        return {key: with_stand_ins(item) for key, item in value.items()}
    return [with_stand_ins(item) for item in value] if isinstance(value, list) else value


@cache
def stand_in(reference: str) -> Any:
    folder, _, dotted = reference.removeprefix(TAG).rpartition("/")
    module, _, name = dotted.rpartition(".")
    node = definition(Path(folder), module, name)
    if isinstance(node, ast.ClassDef):
        return class_stand_in(name, node)

    def function(*args: Any, **kwargs: Any) -> Any:
        return args, kwargs

    function.__name__ = name
    if node is not None:
        function.__signature__ = signature(node)  # type: ignore[attr-defined]
    return function


def class_stand_in(name: str, node: ast.ClassDef) -> type:
    """A filter class; one that has no constructor of its own takes anything."""
    inits = [item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == "__init__"]
    body: dict[str, Any] = {"__init__": lambda self, **options: None, "apply": lambda self, resps, docs: resps}
    if inits:
        _, *others = signature(inits[0]).parameters.values()
        body["__signature__"] = inspect.Signature(others)
    return type(name, (), body)


def signature(node: ast.FunctionDef) -> inspect.Signature:
    """Names and kinds of the parameters, and whether they have a default; not which."""
    spaces: dict[str, Any] = {}
    bare = ast.FunctionDef(
        name="bare", args=node.args, body=[ast.Pass()], decorator_list=[], returns=None, type_params=[]
    )
    for argument in ast.walk(node.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    node.args.defaults = [ast.Constant(None) for _ in node.args.defaults]
    node.args.kw_defaults = [default and ast.Constant(None) for default in node.args.kw_defaults]
    module = ast.fix_missing_locations(ast.Module(body=[bare], type_ignores=[]))
    exec(compile(module, "<stand-in>", "exec"), spaces)
    return inspect.signature(spaces["bare"])


def definition(folder: Path, module: str, name: str) -> ast.FunctionDef | ast.ClassDef | None:
    """Where a name is defined in its file; None for a name that is assigned or imported there."""
    file = folder.joinpath(*module.split(".")).with_suffix(".py")
    if not file.is_file():
        file = folder_of_packages(folder).joinpath(*module.split(".")).with_suffix(".py")
    found = [node for node in parsed(file).body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    return next((node for node in found if node.name == name), None)


def folder_of_packages(folder: Path) -> Path:
    return next(parent.parent for parent in folder.parents if parent.name == "lm_eval")


@cache
def parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))
