"""The same groups through lm-eval's own loader."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from hydra_eval.config.task_index import task_index
from hydra_eval.config.task_options import options_for

from ..toys import COLOURS, data_sets_prepared_in, write_rows, write_yaml

pytestmark = pytest.mark.parity

COMPARED = ("description", "num_fewshot", "repeats", "target_delimiter", "doc_to_text", "generation_kwargs")
GROUPS: Mapping[str, Mapping[str, Any]] = {
    "plain": {"task": ["a", "inner", "pair"], "group_alias": "P"},
    "inner": {"task": ["c", {"task": "d", "num_fewshot": 3, "task_alias": "D"}], "description": "inner: "},
    "handing_down": {
        "task": [{"group": "inner", "repeats": 2, "description": "handed: "}, "a"],
        "description": "own: ",
        "num_fewshot": 7,
    },
    "inline": {
        "task": [
            {"group": "sub", "group_alias": "S", "task": ["a", {"task": "b", "repeats": 4}], "target_delimiter": "\n"},
            {"task": "new", "task_alias": "N", "doc_to_text": "{{thing}}?", "generation_kwargs": {"until": ["y"]}},
            {"group": "deep", "task": [{"group": "deeper", "task": ["c"], "description": "deeper"}], "repeats": 5},
        ],
        "doc_to_target": "colour",
        "target_delimiter": ":",
    },
    "by_key": {
        "task": [{"task": "a", "generation_kwargs": {"until": ["x"]}}, {"task": "b", "doc_to_text": "{{colour}}"}]
    },
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("groups")
    write_rows(folder / "test.jsonl", COLOURS)
    data = {"dataset_path": "json", "dataset_kwargs": {"data_files": {"test": str(folder / "test.jsonl")}}}
    for name, tag in (("a", None), ("b", "pair"), ("c", ["pair", "other"]), ("d", None)):
        content = {"task": name, **data, "test_split": "test", "doc_to_text": "{{thing}}", "doc_to_target": "colour"}
        kwargs = {"until": ["."], "do_sample": False}
        write_yaml(folder / f"{name}.yaml", content | {"generation_kwargs": kwargs} | ({"tag": tag} if tag else {}))
    for name, content in GROUPS.items():
        members = [with_data(member, data) for member in content["task"]]
        write_yaml(folder / f"{name}_group.yaml", {"group": name, **content, "task": members})
    with data_sets_prepared_in(tmp_path_factory.mktemp("datasets")):
        yield folder


@pytest.mark.parametrize("name", GROUPS)
def test_a_group_has_lm_evals_tasks_with_lm_evals_values(folder: Path, name: str) -> None:
    tasks = pytest.importorskip("lm_eval.tasks")
    theirs = tasks.TaskManager(include_path=str(folder), include_defaults=False).load([name])
    ours = options_for(name, task_index((folder,)))
    called = ours["selection"][name]["tasks"]
    members = {group: [called.get(key, key) for key in record["members"]] for group, record in ours["groups"].items()}
    assert members == theirs["group_map"]
    assert {group: record["alias"] for group, record in ours["groups"].items()} == {
        group: found.alias for group, found in theirs["groups"].items()
    }
    found = {task: ours["tasks"][key] for key, task in ours["selection"][name]["tasks"].items()}
    assert {task: values(content) for task, content in found.items()} == {
        task: values(vars(their.config)) for task, their in theirs["tasks"].items()
    }


@pytest.mark.parametrize("name", GROUPS)
def test_a_groups_aliases_are_those_that_lm_eval_shows(folder: Path, name: str) -> None:
    tasks = pytest.importorskip("lm_eval.tasks")
    theirs = tasks.TaskManager(include_path=str(folder), include_defaults=False).load([name])["tasks"]
    options = options_for(name, task_index((folder,)))
    called, groups = options["selection"][name]["tasks"], options["groups"].values()
    ours = {called[key]: alias for group in groups for key, alias in group["aliases"].items()}
    assert ours == {name: task.config.task_alias for name, task in theirs.items() if task.config.task_alias}


def with_data(member: Any, data: Mapping[str, Any]) -> Any:
    """The task that a group defines by itself needs a data set."""
    is_new = isinstance(member, Mapping) and member.get("task") == "new"
    return {**member, **data, "test_split": "test"} if is_new else member


def values(content: Mapping[str, Any]) -> dict[str, Any]:
    """What a task computes with, as far as it is set."""
    return {key: content[key] for key in COMPARED if content[key] is not None}
