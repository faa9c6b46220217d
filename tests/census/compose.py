"""Composes every task and group of task trees as a run would, and says which cannot be composed, and why.

    python -m tests.census.compose                       the tree of the installed lm-eval
    python -m tests.census.compose --tasks DIR           a copy of it, or any other tree; lm-eval is not needed

Nothing is imported from the trees, no data is read and nothing is looked up on a network: where a task names a function
of its own, or a filter that its code registers, a stand-in of that name takes its place while filters and metrics are
built.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast

from omegaconf import OmegaConf

from hydra_eval.config.functions import is_function_reference
from hydra_eval.config.task_config import REFUSED, TaskConfig, task_config, task_key
from hydra_eval.config.task_index import Entry, TaskIndex, task_index
from hydra_eval.config.task_options import options_for
from hydra_eval.config.task_source import escaped
from hydra_eval.errors import UserError
from hydra_eval.filters.build import build_pipelines
from hydra_eval.metrics.build import build_metrics

for library in ("HF_HUB_OFFLINE", "HF_EVALUATE_OFFLINE"):
    os.environ.setdefault(library, "1")  # a metric of the library `evaluate` is looked up when it is built

WIDTH = 160
REGISTERED = re.compile(r"@register_filter\(\s*['\"]([^'\"]+)['\"]")
"""A filter that task code gives a name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A name that does not get through, and where it stops."""

    name: str
    kind: str
    stage: str
    """index, compose, config, filters or metrics."""
    cause: str


@dataclass(slots=True, kw_only=True)
class Report:
    """What a tree holds, and what of it fails."""

    counts: Counter[str] = field(default_factory=Counter)
    """Kind of name → how many there are."""
    failures: list[Failure] = field(default_factory=list)
    refused: dict[str, list[str]] = field(default_factory=dict)
    """Key that is refused by name → the tasks that have it."""
    registered: frozenset[str] = frozenset()
    """Names of filters that come into being when task code is imported."""


def census(folders: Sequence[Path]) -> Report:
    """Compose every name of the folders' index."""
    index = task_index(tuple(folders))
    code = (path.read_text(encoding="utf-8", errors="replace") for folder in folders for path in folder.rglob("*.py"))
    registered = frozenset(name for text in code for name in REGISTERED.findall(text))
    report = Report(counts=Counter(entry.kind for entry in index.entries.values()), registered=registered)
    report.counts["tag"] = len(index.tags)
    report.failures += [
        Failure(name=str(path), kind="file", stage="index", cause=reason) for path, reason in index.broken.items()
    ]
    for entry in index.entries.values():
        (_check_group if entry.kind == "group" else _check_task)(entry, index, report)
    return report


def _check_task(entry: Entry, index: TaskIndex, report: Report) -> None:
    content = _tried(entry, "compose", report, lambda: through_hydra(options_for(entry.name, index)))
    if content is not None:
        _check_content(entry, content["tasks"][task_key(entry.name)], report)


def _check_group(entry: Entry, index: TaskIndex, report: Report) -> None:
    """A group's plain members are checked as tasks; here come those that it changes or defines."""
    options = _tried(entry, "compose", report, lambda: options_for(entry.name, index))
    if options is None:
        return
    own = {key: task for key, task in options["tasks"].items() if not _is_plain(key, task, index)}
    report.counts["task of a group's own"] += len(own)
    content = _tried(entry, "compose", report, lambda: through_hydra({"groups": options["groups"], "tasks": own}))
    for task in content["tasks"].values() if content is not None else ():
        _check_content(entry, task, report)


def _is_plain(key: str, task: Mapping[str, Any], index: TaskIndex) -> bool:
    return task["task"] in index.entries and key == task_key(task["task"])


def _check_content(entry: Entry, content: Mapping[str, Any], report: Report) -> None:
    refused = [key for key in REFUSED if content.get(key) is not None]
    for key in refused:
        report.refused.setdefault(key, []).append(content["task"])
    # Refused keys apart, the rest of the task is to be sound.
    allowed = with_stand_ins({**content, **dict.fromkeys(refused)}, report.registered)
    task = _tried(entry, "config", report, lambda: task_config(allowed))
    if task is None or content["python_class"] or content["table"]:
        return
    _tried(entry, "filters", report, lambda: build_pipelines(task.filter_list, where=task.file))
    _tried(entry, "metrics", report, lambda: _metrics(task))


def _metrics(task: TaskConfig) -> Any:
    has_own = task.process_results is not None
    return build_metrics(task.metric_list, output_type=task.output_type, has_process_results=has_own, where=task.file)


T = TypeVar("T")


def _tried(entry: Entry, stage: str, report: Report, step: Callable[[], T]) -> T | None:
    """What the step gives, or None with its UserError noted; any other error is a fault of the program."""
    try:
        return step()
    except UserError as error:
        report.failures.append(Failure(name=entry.name, kind=entry.kind, stage=stage, cause=str(error)))
        return None


def through_hydra(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options after the way that they take in a run: into the config system and out of it."""
    return cast(dict[str, Any], OmegaConf.to_container(OmegaConf.create(escaped(options)), resolve=True))


def with_stand_ins(value: Any, registered: frozenset[str] = frozenset()) -> Any:
    """The same with a class of the right name for every function of the task's own, which is not imported."""
    if is_function_reference(value) or (isinstance(value, str) and value in registered):
        methods = {"__init__": lambda self, *args, **options: None, "apply": lambda self, resps, docs: resps}
        return type(value.rpartition(".")[2], (), methods)
    if isinstance(value, Mapping):
        return {key: with_stand_ins(item, registered) for key, item in value.items()}
    return [with_stand_ins(item, registered) for item in value] if isinstance(value, list) else value


def lines(report: Report) -> Iterator[str]:
    """The report as text."""
    for kind, count in sorted(report.counts.items()):
        yield f"{count:7d}  {kind}"
    for key, names in sorted(report.refused.items()):
        yield f"{len(names):7d}  refused by name for '{key}': {_shortened(', '.join(names))}"
    yield f"{len(report.failures):7d}  failures"
    for failure in report.failures:
        yield f"  {failure.kind} {failure.name} ({failure.stage}): {_shortened(failure.cause)}"


def _shortened(text: str) -> str:
    return textwrap.shorten(text, WIDTH, placeholder=" …")


def installed_tree() -> Path | None:
    """The task tree of the installed lm-eval, which is not imported."""
    spec = importlib.util.find_spec("lm_eval")
    return Path(spec.origin).parent / "tasks" if spec is not None and spec.origin else None


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Compose every task and group of task trees.")
    parser.add_argument("--tasks", type=Path, action="append", help="A task tree; several are indexed together.")
    folders = parser.parse_args(argv).tasks or [installed_tree()]
    if None in folders:
        parser.error("lm-eval is not installed: give --tasks DIR, a copy of its lm_eval/tasks")
    begin = time.process_time()
    report = census([folder.resolve() for folder in folders])
    sys.stdout.write("\n".join([*lines(report), f"{time.process_time() - begin:7.1f}  CPU seconds"]) + "\n")
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
