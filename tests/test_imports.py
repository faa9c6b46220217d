"""Who may import what: the tables below are the whole truth, and every file is held to them."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "hydra_eval"
NAMES = sorted(str(path.relative_to(PACKAGE).with_suffix("")) for path in PACKAGE.rglob("*.py"))
"""Files of the package, as `folder/file`."""

OUTSIDE: dict[str, set[str]] = {
    "hydra": {
        "app",
        "commands/composed",
        "config/command_line",
        "config/compose",
        "config/explain",
        "config/task_source",
        "config/tasks_file",
    },
    "omegaconf": {"app", "config/compose", "config/explain", "config/task_source"},
    "yaml": {"commands/draft", "config/folder", "config/task_yaml"},
    "jinja2": {"models/chat", "tasks/templates"},
    "datasets": {"data/", "tasks/local_loading", "lm_eval_compat/api/task"},
    "wandb": {"trackers/"},
    "torch": {"fleet", "models/", "demo/train"},
    "transformers": {"models/", "demo/train"},
    "tokenizers": {"demo/train"},
    "peft": {"models/loading/adapter"},
    "accelerate": {"fleet"},
    "huggingface_hub": {"hub"},
    "rich": {"commands/", "console", "dry_run/show", "progress", "results/tables", "screen", "sweep"},
    "typer": {"cli"},
    "sacrebleu": {"stats/"},
    "evaluate": {"metrics/hub"},
    "numpy": {
        "fewshot/nearest",
        "metrics/",
        "models/prefixes",
        "models/engine/tree",
        "models/engine/replies",
        "stats/",
        "lm_eval_compat/utils",
        "tables/",
    },
    "sklearn": {"fewshot/nearest", "stats/", "lm_eval_compat/utils"},
}
"""Outside library → the files that may import it (a folder ends in `/`)."""

RECORDS = {"records", "errors"}
TASK = RECORDS | {"tasks/task"}
INSIDE: dict[str, set[str]] = {
    "errors": set(),
    "records": set(),
    "file_names": set(),
    "patterns": {"errors"},
    "console": set(),
    "resources": set(),
    "hub": set(),
    "filters/": {"filters/", "errors", "patterns", "lm_eval_compat/__init__"},
    "filters/invalid": {"filters/", "records"},
    "metrics/": {"metrics/", "stats/", "errors", "patterns", "lm_eval_compat/__init__"},
    "stats/": {"stats/", "errors", "metrics/base"},
    "fewshot/": TASK | {"fewshot/"},
    "prompts/__init__": set(),
    "results/__init__": set(),
    "prompts/style": set(),
    "prompts/seams": TASK | {"prompts/style"},
    "prompts/choice_space": RECORDS,
    "prompts/joins": {"prompts/style"},
    "prompts/render": TASK | {"prompts/joins", "prompts/style"},
    "instances": TASK | {"prompts/choice_space"},
    "plan": RECORDS,
    "scoring": TASK | {"instances", "filters/base", "filters/replies", "metrics/base"},
    "results/aggregate": TASK | {"metrics/", "stats/"},
    "results/group_plans": TASK | {"config/spec", "tasks/asks"},
    "results/groups": {"results/aggregate", "results/group_plans"},
    "results/positions": TASK | {"results/aggregate", "metrics/base", "scoring", "tasks/formulations"},
    "results/families": {"results/aggregate", "results/groups", "results/positions", "stats/", "tasks/asks"},
    "results/report": {"results/aggregate", "results/families", "results/groups", "tasks/asks"},
    "results/thinking": {"records"},
    "asking": RECORDS | {"models/base"},
    "sample_file": {"records"},
    "run_files": RECORDS | {"file_names", "sample_file"},
    "pipeline": TASK
    | {"prompts/choice_space", "fewshot/", "prompts/fitting", "instances", "prompts/overflow", "plan", "prompts/render"}
    | {"scoring", "prompts/seams", "prompts/style"},
    "prompts/fitting": TASK | {"models/encoding", "prompts/overflow"},
    "prompts/overflow": RECORDS,
    "tasks/__init__": set(),
    "tasks/asks": set(),
    "tasks/task": {"records", "prompts/style", "data/facts", "filters/base", "metrics/base", "tasks/asks"},
    "tasks/templates": {"errors", "tasks/task"},
    "tasks/choice_questions": {"tasks/task"},
    "tasks/choice_reading": TASK | {"config/", "tasks/choice_questions", "tasks/templates"},
    "tasks/formulations": TASK | {"config/", "tasks/"},
    "tasks/listed_shots": {"config/", "errors"},
    "tasks/shots": {"config/", "errors", "tasks/listed_shots"},
    "tasks/generation": {"config/", "records", "errors"},
    "tasks/hooks": {"config/", "errors"},
    "tasks/cells": {"config/", "errors", "file_names", "tasks/asks", "tasks/shots"},
    "tasks/shot_plan": TASK | {"config/", "data/", "tasks/"},
    "tasks/measures": {"config/", "errors", "tasks/", "filters/", "metrics/"},
    "tasks/yaml_task": TASK | {"config/", "data/", "tasks/"},
    "tasks/build": TASK | {"config/", "data/", "tasks/", "tables/build"},
    "tasks/class_task": TASK | {"config/", "tasks/", "filters/build", "lm_eval_compat/__init__", "metrics/"},
    "tasks/class_requests": TASK | {"config/", "tasks/", "prompts/style"},
    "tasks/custom_data": {"config/", "errors", "tasks/"},
    "tasks/local_loading": {"config/", "data/"},
    "tasks/code_gate": {"errors"},
    "lm_eval_compat/": TASK
    | {
        "lm_eval_compat/",
        "config/task_config",
        "filters/",
        "instances",
        "metrics/",
        "prompts/render",
        "scoring",
        "stats/",
    }
    | {"prompts/style", "tasks/templates"},
    "lm_eval_compat/__init__": set(),
    "lm_eval_compat/finder": set(),
    "code_execution/": {"code_execution/"},
    "data/": RECORDS | {"data/", "config/schema", "config/task_config", "hub"},
    "data/facts": set(),
    "config/no_effect": TASK | {"config/"},
    "config/": {"config/", "errors", "lm_eval_compat/finder", "resources", "tables/names", "tables/load"},
    "models/": {
        "models/",
        "records",
        "errors",
        "prompts/style",
        "config/schema",
        "config/prompting",
        "hub",
        "resources",
    },
    "numerics/": TASK | {"numerics/", "instances"},
    "numerics/check": TASK | {"numerics/", "config/schema", "models/base", "models/efficiency"},
    "dry_run/visible": set(),
    "dry_run/preview": RECORDS | {"models/", "sample_file", "dry_run/visible"},
    "dry_run/": RECORDS
    | {
        "dry_run/",
        "__init__",
        "config/schema",
        "fewshot/facts",
        "prompts/fitting",
        "models/",
        "prompts/overflow",
        "pipeline",
        "dry_run/preview",
    },
    "commands/": TASK
    | {"commands/", "config/", "data/", "tasks/", "fewshot/", "models/", "filters/build", "metrics/build"}
    | {"prompts/fitting", "pipeline", "dry_run/preview", "resources", "sample_file", "scoring", "prompts/style"},
    "tables/": RECORDS | {"tables/", "config/", "sample_file"},
    "tables/aggregations": {"tables/", "metrics/"},
    "tables/build": TASK
    | {"tables/", "config/", "data/", "filters/", "tasks/cells", "tasks/generation", "tasks/shot_plan"}
    | {"tasks/listed_shots", "tasks/yaml_task"},
    "tables/lighteval/corpus_metrics": {"tables/", "stats/aggregations"},
    "tables/metrics": {"tables/", "errors", "metrics/base"},
    "tables/prompts": {"prompts/joins", "prompts/style"},
    "tables/requests": RECORDS | {"tables/", "prompts/choice_space", "prompts/style"},
    "trackers/": TASK | {"trackers/", "results/aggregate", "sample_file", "config/schema"},
}
"""File or folder → what of ours it may import."""

STAGES = (
    "fewshot/",
    "filters/",
    "metrics/",
    "stats/",
    "prompts/choice_space",
    "prompts/seams",
    "prompts/joins",
    "prompts/render",
    "instances",
    "plan",
    "scoring",
    "results/aggregate",
    "results/group_plans",
    "results/groups",
    "results/positions",
    "results/families",
    "results/report",
    "numerics/answers",
    "numerics/compare",
    "numerics/figures",
    "numerics/sample",
    "pipeline",
)
EFFECTS = {"torch", "transformers", "accelerate", "hydra", "omegaconf", "wandb", "datasets", "yaml", "huggingface_hub"}


@cache
def imports_of(name: str) -> tuple[str, ...]:
    """Dotted modules that a file imports, wherever in it the import stands."""
    return tuple(_imports(name))


def _imports(name: str) -> Iterator[str]:
    for node in ast.walk(ast.parse((PACKAGE / f"{name}.py").read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}: relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def outside(name: str) -> set[str]:
    roots = {module.partition(".")[0] for module in imports_of(name)}
    return {root for root in roots if root not in sys.stdlib_module_names and root != "hydra_eval"}


def inside(name: str) -> set[str]:
    """Files of ours that a file imports, as `folder/file`; a package stands for its `__init__`."""
    found = set()
    for module in imports_of(name):
        parts = module.split(".")
        if parts[0] != "hydra_eval":
            continue
        while parts and "/".join(parts[1:]) not in NAMES:
            if "/".join([*parts[1:], "__init__"]) in NAMES:
                parts.append("__init__")
                break
            parts.pop()
        found.add("/".join(parts[1:]))
    return found - {"__init__"}


def covers(entries: set[str] | tuple[str, ...], name: str) -> bool:
    return any(name == entry or (entry.endswith("/") and name.startswith(entry)) for entry in entries)


def rule_for(name: str) -> set[str] | None:
    """The rule of a file, else that of its folder."""
    return INSIDE.get(name, INSIDE.get(f"{name.partition('/')[0]}/"))


@pytest.mark.parametrize("library", OUTSIDE)
def test_an_outside_library_is_imported_only_where_it_may_be(library: str) -> None:
    strangers = [name for name in NAMES if library in outside(name) and not covers(OUTSIDE[library], name)]
    assert strangers == []


def test_every_outside_library_is_in_the_table() -> None:
    assert {library: name for name in NAMES for library in outside(name) if library not in OUTSIDE} == {}


@pytest.mark.parametrize("library", OUTSIDE)
def test_a_file_that_is_let_in_uses_it(library: str) -> None:
    users = [name for name in NAMES if library in outside(name)]
    idle = {entry for entry in OUTSIDE[library] if not any(covers({entry}, user) for user in users)}
    assert idle == set()


@pytest.mark.parametrize("name", [name for name in NAMES if rule_for(name) is not None])
def test_ours_imports_ours_only_downwards(name: str) -> None:
    rule = rule_for(name)
    assert rule is not None
    assert {module for module in inside(name) if not covers(rule, module)} == set()


@pytest.mark.parametrize("name", [name for name in NAMES if covers(STAGES, name)])
def test_a_stage_has_no_effects(name: str) -> None:
    assert outside(name) & EFFECTS == set()
    assert not covers(("models/", "trackers/"), name)


@pytest.mark.parametrize(
    ("target", "importers"),
    [
        ("app", {"__main__", "api", "cli"}),
        ("runner", {"api", "app", "launch"}),
        ("pipeline", {"runner", "screen", "commands/show", "commands/validate", "dry_run/counts", "dry_run/report"}),
        ("fleet", {"api", "app", "launch", "runner"}),
    ],
)
def test_nothing_imports_what_stands_above_it(target: str, importers: set[str]) -> None:
    assert {name for name in NAMES if target in inside(name)} <= importers


def test_every_file_has_a_rule_or_stands_at_the_top() -> None:
    top = {
        "__init__",
        "__main__",
        "api",
        "app",
        "cli",
        "fleet",
        "launch",
        "process",
        "progress",
        "results/file",
        "results/tables",
        "runner",
        "screen",
    }
    top |= {"sweep"}
    assert {name for name in NAMES if rule_for(name) is None and not name.startswith("demo/")} == top


def test_the_entry_points_start_the_program() -> None:
    tree = ast.parse((PACKAGE.parent.parent / "run.py").read_text(encoding="utf-8"))
    modules = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert modules == ["hydra_eval.app"]
