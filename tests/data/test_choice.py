from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hydra_eval.config.schema import DataConfig, RunConfig, SubsetConfig
from hydra_eval.data.choice import Choice, Subset, choices
from hydra_eval.errors import UserError

TASKS = {"to.y|2": ("to.y|2", "to.y", "to_y"), "other": ("other", "other", "other")}


def chosen(**changes: Any) -> dict[str, Choice]:
    return choices(TASKS, RunConfig(**changes))


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({}, None),
        ({"limit": 0.5}, "limit"),
        ({"sample_ids": {"other": [1]}}, "sample_ids"),
        ({"subset": SubsetConfig(n=3)}, "subset"),
    ],
    ids=["whole", "limit", "ids", "subset"],
)
def test_what_chooses(changes: dict[str, Any], name: str | None) -> None:
    assert chosen(**changes)["other"].name == name


@pytest.mark.parametrize("name", ["to.y|2", "to.y", "to_y"])
def test_a_limit_for_one_task_leaves_the_others_whole(name: str) -> None:
    assert chosen(limit={name: 10}) == {"to.y|2": Choice(limit=10), "other": Choice()}


def test_numbers_for_one_task_leave_the_others_whole() -> None:
    assert chosen(sample_ids={"other": [5, 2]}) == {"to.y|2": Choice(), "other": Choice(ids=(5, 2))}


def test_duplicates_are_a_matter_of_the_run() -> None:
    assert chosen(data=DataConfig(dedupe=True))["other"].dedupe is True


@pytest.mark.parametrize(("seed", "used"), [(None, 7), (0, 0)])
def test_the_seed_of_a_subset_is_the_runs_unless_given(seed: int | None, used: int) -> None:
    found = chosen(seed=7, subset=SubsetConfig(n=3, seed=seed, stratify="kind"))
    assert found["other"].subset == Subset(n=3, seed=used, stratify="kind")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_numbers_from_a_file_of_a_larger_run(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "ids.json").write_text(json.dumps({"other": [3, 1], "third": [0]}), encoding=encoding)
    assert chosen(sample_ids=str(tmp_path / "ids.json"))["other"].ids == (3, 1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"limit": {"othr": 1}}, r"limit: 'othr' is no task of this run. Did you mean 'other'\? Tasks: other, to.y"),
        ({"sample_ids": {"none": [1]}}, "sample_ids: 'none' is no task of this run"),
    ],
    ids=["limit", "ids"],
)
def test_a_name_that_is_no_task(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        chosen(**changes)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be read: .*No such file"),
        ("{", "cannot be read: "),
        ("[1]", "must hold a JSON object"),
        ('{"third": [1]}', "has none of this run's tasks. Its tasks: third"),
        ('{"other": [-1]}', r"'other'=\[-1\]: must be a list of document numbers, from 0"),
    ],
    ids=["missing", "no JSON", "no mapping", "other tasks", "no numbers"],
)
def test_a_file_that_names_no_documents(tmp_path: Path, content: str | None, message: str) -> None:
    if content is not None:
        (tmp_path / "ids.json").write_text(content, encoding="utf-8")
    with pytest.raises(UserError, match=rf"^sample_ids=\S*ids.json.*{message}"):
        chosen(sample_ids=str(tmp_path / "ids.json"))
