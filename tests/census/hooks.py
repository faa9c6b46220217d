"""Resolves every `!function` of every task of a tree and counts what does not resolve, by cause.

python -m tests.census.hooks --tasks DIR [--without-lm-eval] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hydra_eval.config.functions import TAG, is_function_reference
from hydra_eval.config.task_yaml import names_of, read_raw, read_task_yaml

from .hook_worker import Found, Job, resolve_all

SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Census:
    tasks: int
    """Tasks with at least one reference."""
    references: int
    """Different ones."""
    modules: int
    failures: dict[str, dict[str, int]]
    """Cause → how many references, modules and tasks."""
    details: dict[str, list[str]]
    """Cause → a message for each module."""


def references_in(content: Any) -> Iterator[str]:
    if is_function_reference(content):
        yield content
    elif isinstance(content, Mapping):
        for value in content.values():
            yield from references_in(value)
    elif isinstance(content, list):
        for value in content:
            yield from references_in(value)


def tasks_of(tree: Path) -> dict[Path, tuple[str, ...]]:
    """Task file → its references, includes read in."""
    found = {}
    for path in sorted(tree.rglob("*.yaml")):
        named = names_of(read_raw(path))
        if named is not None and named[0] != "group":
            references = tuple(dict.fromkeys(references_in(read_task_yaml(path))))
            if references:
                found[path] = references
    return found


def jobs_of(tasks: Mapping[Path, Sequence[str]]) -> list[Job]:
    """One job per module."""
    modules: dict[str, tuple[Path, dict[str, None]]] = {}
    for path, references in tasks.items():
        for reference in references:
            modules.setdefault(module_of(reference), (path, {}))[1][reference] = None
    return [Job(str(where), tuple(references)) for where, references in modules.values()]


def module_of(reference: str) -> str:
    return reference.removeprefix(TAG).rpartition(".")[0]


def take_census(tree: Path, *, hidden: bool, seconds: float = SECONDS) -> Census:
    tasks = tasks_of(tree)
    jobs = jobs_of(tasks)
    failed = {
        found.reference: found for found in resolve_all(jobs, tree, seconds=seconds, hidden=hidden) if found.cause
    }
    return Census(
        tasks=len(tasks),
        references=len({reference for references in tasks.values() for reference in references}),
        modules=len(jobs),
        failures=_counted(failed, tasks),
        details=_details(failed),
    )


def _counted(failed: Mapping[str, Found], tasks: Mapping[Path, Sequence[str]]) -> dict[str, dict[str, int]]:
    references = Counter(str(found.cause) for found in failed.values())
    modules: dict[str, set[str]] = defaultdict(set)
    concerned: dict[str, set[Path]] = defaultdict(set)
    for found in failed.values():
        modules[str(found.cause)].add(module_of(found.reference))
    for path, of_task in tasks.items():
        for reference in set(of_task) & failed.keys():
            concerned[str(failed[reference].cause)].add(path)
    return {
        cause: {"references": count, "modules": len(modules[cause]), "tasks": len(concerned[cause])}
        for cause, count in sorted(references.items(), key=lambda item: -len(concerned[item[0]]))
    }


def _details(failed: Mapping[str, Found]) -> dict[str, list[str]]:
    details: dict[str, dict[str, str]] = defaultdict(dict)
    for found in failed.values():
        details[str(found.cause)].setdefault(module_of(found.reference), found.detail)
    return {cause: list(of_modules.values()) for cause, of_modules in details.items()}


def table(census: Census) -> str:
    lines = [f"{census.tasks} tasks with {census.references} different references to {census.modules} modules", ""]
    lines += ["| tasks | modules | references | cause |", "|---|---|---|---|"]
    lines += [
        f"| {n['tasks']} | {n['modules']} | {n['references']} | {cause} |" for cause, n in census.failures.items()
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=Path, required=True, help="the tree")
    parser.add_argument("--without-lm-eval", action="store_true", help="as if lm-eval were not installed")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="longest time for one module")
    parser.add_argument("--json", type=Path, help="write everything there")
    given = parser.parse_args()
    census = take_census(given.tasks.resolve(), hidden=given.without_lm_eval, seconds=given.seconds)
    sys.stdout.write(table(census))
    if given.json:
        given.json.write_text(json.dumps(asdict(census), indent=2, ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    main()
