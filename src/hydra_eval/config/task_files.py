"""Tasks named by where they are: a YAML file, or a Python file or module with a TASKS_TABLE.

    path/to/task.yaml          the task or group of that file
    path/to/tasks.py           every task of its table, sorted by name
    path/to/tasks.py:name      one of them; also a prefix or a glob over them
    package.module:name        the same of an installed module; `package.module` alone is all of it

A path counts from the working folder. Only a Python file that is asked for is imported.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from hydra_eval.config.task_index import Entry, TaskIndex, entry_of, prefixes_of
from hydra_eval.config.task_names import Named, find, why_unknown
from hydra_eval.errors import UserError

YAML = (".yaml", ".yml")
MODULE = re.compile(r"(?P<module>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?::(?P<name>.+))?")


def find_file(name: str, index: TaskIndex) -> Named | None:
    """What a path or module holds; None where the text is neither. Raises UserError for a file that is not there."""
    if name.endswith(YAML):
        return _yaml(_existing(name), index)
    file, is_python, rest = _python_path(name)
    if is_python:
        path = _existing(file)
        return _of_table(rest, name, table_contents(str(path)), path=path, module=None)
    return _of_module(name)


def _yaml(path: Path, index: TaskIndex) -> Named:
    entry = entry_of(path)
    if entry is None:
        raise UserError(f"{path}: the file defines neither a task nor a group; it is a base for others to include.")
    known = index.entries.get(entry.name)
    return Named(entries=(known if known and known.path.resolve() == path.resolve() else entry,))


def _python_path(name: str) -> tuple[str, bool, str | None]:
    """(file, whether there is one, what of it): task names may hold colons too, so the file ends at its `.py`."""
    if name.endswith(".py"):
        return name, True, None
    file, colon, rest = name.partition(".py:")
    return f"{file}.py", bool(colon), rest or None


def _of_module(name: str) -> Named | None:
    found = MODULE.fullmatch(name)
    if found is None:
        return None
    module, rest = found["module"], found["name"]
    # A plain word, or one before a colon that the standard library happens to have (math:algebra), is a task's name.
    if ("." not in module and rest is None) or module.partition(".")[0] in sys.stdlib_module_names:
        return None
    spec = _module_spec(module)
    if spec is None or spec.origin is None:
        return None
    return _of_table(rest, name, table_contents(module), path=Path(spec.origin), module=module)


def _module_spec(module: str) -> Any:
    try:
        return importlib.util.find_spec(module)
    except ModuleNotFoundError:  # a package above it
        return None


def _of_table(rest: str | None, text: str, table: dict[str, Any], *, path: Path, module: str | None) -> Named:
    entries = {name: Entry(name=name, kind="table", path=path, module=module) for name in table}
    if rest is None:
        return Named(entries=tuple(entries.values()))
    own = _index_of(entries)
    named = find(rest, own)
    if named is None:
        raise UserError(f"task={text}: in the TASKS_TABLE of {path}: {why_unknown(rest, own)}")
    return named


def with_computed(index: TaskIndex) -> tuple[TaskIndex, list[str]]:
    """The index with the names that tables compute, which show when they are imported; and why some cannot be."""
    found: dict[str, Entry] = {}
    reasons: list[str] = []
    for path in index.tables:
        try:
            names = table_contents(str(path))
        except UserError as error:
            reasons.append(str(error))
            continue
        for name in names:
            found.setdefault(name, Entry(name=name, kind="table", path=path))
    entries = found | index.entries
    return replace(index, entries=entries, prefixes=prefixes_of(entries.values())), reasons


def _index_of(entries: dict[str, Entry]) -> TaskIndex:
    return TaskIndex(entries=entries, prefixes=prefixes_of(entries.values()))


def table_contents(path_or_module: str) -> dict[str, dict[str, Any]]:
    """Name → content of every task of a TASKS_TABLE. Imports the module; raises UserError where that fails."""
    from hydra_eval.tables.load import table_entries

    return table_entries(path_or_module)


def _existing(text: str) -> Path:
    path = Path(text).expanduser().absolute()
    if not path.is_file():
        raise UserError(f"task={text}: the file {path} does not exist.")
    return path
