"""Reads TASKS_TABLE modules: the entries themselves, and what they say in the keys of a task's config."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hydra_eval.config.functions import resolve_function
from hydra_eval.config.task_config import fill_defaults
from hydra_eval.errors import UserError, lookup
from hydra_eval.tables.kinds import metrics_of, output_type, samples_of
from hydra_eval.tables.names import TABLE
from hydra_eval.tables.serving import serve

NEEDED = ("name", "prompt_function", "hf_repo")


def table_entries(path_or_module: str) -> dict[str, dict[str, Any]]:
    """Name → every key of its config, as `tasks.<key>` of a run holds it. Imports the file or module.

    Sorted by name: a file may make its table from a set, whose order is another one in each process. Raises UserError
    naming the file where it cannot be imported, has no table, or names a task twice.
    """
    file = table_file(path_or_module)
    entries = table_configs(path_or_module)
    return {name: _content(entries[name], path_or_module, file) for name in sorted(entries)}


def table_config(path_or_module: str, name: str) -> Any:
    """One entry of a table, as its file wrote it: a LightevalTaskConfig, lighteval's own or the stand-in."""
    return lookup(table_configs(path_or_module), name, kind="task", where=path_or_module)


def table_configs(path_or_module: str) -> dict[str, Any]:
    """Name → entry, in the table's order."""
    entries = _table(path_or_module)
    found: dict[str, Any] = {}
    for number, entry in enumerate(entries):
        for attribute in NEEDED:
            if not hasattr(entry, attribute):
                raise UserError(
                    f"{path_or_module}: entry {number} of {TABLE} is no LightevalTaskConfig: it has no '{attribute}'."
                )
        if entry.name in found:
            raise UserError(f"{path_or_module}: {TABLE} has two tasks named '{entry.name}'. Rename one of them.")
        found[entry.name] = entry
    return found


def table_file(path_or_module: str) -> Path:
    """The file of a table, also of one named as a module."""
    if _is_file(path_or_module):
        return Path(path_or_module).absolute()
    _table(path_or_module)
    return Path(sys.modules[path_or_module].__file__ or path_or_module)


def _table(path_or_module: str) -> list[Any]:
    serve()
    if _is_file(path_or_module):
        path = Path(path_or_module).absolute()
        if not path.is_file():
            raise UserError(f"{path_or_module}: there is no such file.")
        reference = f"!function {path.parent}/{path.stem}.{TABLE}"
    else:
        reference = f"{path_or_module}:{TABLE}"
    table = resolve_function(reference, where=path_or_module)
    if isinstance(table, str) or not isinstance(table, Iterable):
        raise UserError(f"{path_or_module}: {TABLE} must be a list of LightevalTaskConfig, not {table!r}.")
    entries = list(table)
    if not entries:
        raise UserError(f"{path_or_module}: {TABLE} is empty; give it a LightevalTaskConfig.")
    return entries


def _is_file(path_or_module: str) -> bool:
    return path_or_module.endswith(".py")


def _content(entry: Any, source: str, file: Path) -> dict[str, Any]:
    """What the entry says, in lm-eval's keys, so that the command line can change it."""
    files = getattr(entry, "hf_data_files", None)
    kwargs = {"revision": entry.hf_revision, "data_files": files}
    metrics = metrics_of(entry, where=source)
    kind = output_type(metrics)
    content = {
        "task": str(entry.name),
        "table": str(file) if _is_file(source) else source,
        "dataset_path": entry.hf_repo,
        "dataset_name": entry.hf_subset or None,
        "dataset_kwargs": {key: value for key, value in kwargs.items() if value is not None} or None,
        "test_split": [str(split) for split in entry.evaluation_splits],
        "fewshot_split": entry.few_shots_split,
        "num_fewshot": entry.num_fewshots or None,
        "output_type": kind,
        "generation_kwargs": _generation(entry) if kind == "generate_until" else None,
        "repeats": samples_of(entry, metrics),
        "metadata": {"version": entry.version},
    }
    return fill_defaults(content, path=file)


def _generation(entry: Any) -> dict[str, Any]:
    """lighteval writes -1 for a length that is not set."""
    size = entry.generation_size
    length = {"max_gen_toks": int(size)} if size is not None and size > 0 else {}
    return {"until": [str(stop) for stop in entry.stop_sequence or ()], **length}
