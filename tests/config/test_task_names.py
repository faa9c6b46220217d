from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hydra_eval.config.task_index import TaskIndex, task_index
from hydra_eval.config.task_names import find, why_unknown
from hydra_eval.config.task_options import options_for
from hydra_eval.errors import UserError

from ..toys import write_yaml


def write(folder: Path, *names: str, **content: Any) -> TaskIndex:
    """A folder with tasks of these names, and its index."""
    for name in names:
        file = folder / f"{len(list(folder.glob('*')))}.yaml"
        write_yaml(file, {"task": name, "dataset_path": "x", **content})
    task_index.cache_clear()
    return task_index((folder,))


def names(name: str, index: TaskIndex) -> list[str] | None:
    named = find(name, index)
    return None if named is None else [entry.name for entry in named.entries]


def test_a_prefix_is_all_57_of_its_tasks_sorted_with_a_row_of_their_own(tmp_path: Path) -> None:
    subjects = [f"mmlu:s{number:02d}" for number in range(57)]
    options = options_for("mmlu|5", write(tmp_path, *reversed(subjects), "mmlu_pro", "mmlux:s00"))
    assert list(options["selection"]["mmlu|5"]["tasks"].values()) == subjects
    assert options["selection"]["mmlu|5"]["shots"] == 5
    row = options["groups"]["mmlu:_average"]
    assert row["members"] == row["tasks"] == [subject.replace(":", "_") for subject in subjects]
    assert row["aggregate_metric_list"] == [{"metric": "*", "weight_by_size": False}]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("qa", ["qa", "qa:mc", "qa:mc:easy"]),
        ("qa:mc", ["qa:mc", "qa:mc:easy"]),
        ("qa:mc:easy", ["qa:mc:easy"]),
        ("lone", ["lone:one"]),
        ("q", None),
        ("qa:*", ["qa:mc", "qa:mc:easy"]),
        ("*:one", ["lone:one"]),
        ("?a", ["qa"]),
        ("[ql]*a", ["qa"]),
        ("tag:odd", ["lone:one", "qa"]),
        ("odd", ["lone:one", "qa"]),
        ("od*", ["lone:one", "qa"]),
        ("tag:none", None),
        ("QA", None),
    ],
)
def test_what_names_stand_for(tmp_path: Path, name: str, found: list[str] | None) -> None:
    write(tmp_path, "qa:mc:easy", "qa:mc")
    assert names(name, write(tmp_path, "qa", "lone:one", tag="odd")) == found


def test_a_group_and_a_tag_of_one_name_are_told_apart_by_tag(tmp_path: Path) -> None:
    write_yaml(tmp_path / "g.yaml", {"group": "both", "task": ["a"]})
    index = write(tmp_path, "b", "a", tag="both")
    assert names("both", index) == ["both"]
    assert names("tag:both", index) == ["a", "b"]
    assert options_for("tag:both", index)["groups"] == {}


def test_a_glob_takes_groups_with_their_rows_and_each_task_once(tmp_path: Path) -> None:
    write_yaml(tmp_path / "g.yaml", {"group": "ab_all", "task": ["ab_2", "cd"]})
    options = options_for("ab_*", write(tmp_path, "cd", "ab_2", "ab_1", tag="ab_tag"))
    assert list(options["selection"]["ab_*"]["tasks"].values()) == ["ab_1", "ab_2", "cd"]
    assert list(options["groups"]) == ["ab_all"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("mmul_*", r"no task, group or tag matches 'mmul_\*'. Nearest: mmlu_law, mmlu_logic, mmlu_math\.$"),
        ("mmlu_lw", r"unknown task 'mmlu_lw'. Did you mean 'mmlu_law' or 'mmlu_\w+' or 'mmlu_\w+'\? Known: hard, "),
        ("tag:hrd", r"unknown tag 'hrd'. Did you mean 'hard'\? Known: hard\.$"),
    ],
)
def test_a_name_that_is_nobodys_names_the_three_nearest(tmp_path: Path, name: str, message: str) -> None:
    index = write(tmp_path, "mmlu_math", "mmlu_logic", "mmlu_law", "zebra", "hard", tag="hard")
    with pytest.raises(UserError, match=message):
        raise UserError(why_unknown(name, index))


@pytest.mark.parametrize("name", ["mine", "stem", "mytag_task"])
def test_a_broken_file_is_named_when_its_task_is_asked_for(tmp_path: Path, name: str) -> None:
    (tmp_path / "stem.yaml").write_text("task: mine\ngroup: 'mytag_task'\ndoc_to_text: 'open\n", encoding="utf-8")
    index = write(tmp_path, "mine_not")
    with pytest.raises(UserError, match=rf"task={name}: .*stem.yaml: not valid YAML"):
        options_for(name, index)
    assert list(options_for("mine_not", index)["tasks"]) == ["mine_not"]


def test_a_broken_include_names_the_file_that_asks_for_it(tmp_path: Path) -> None:
    (tmp_path / "_base").write_text("a: [", encoding="utf-8")
    index = write(tmp_path, "t", include="_base")
    with pytest.raises(UserError, match=r"task=t: .*1.yaml: .*_base: not valid YAML"):
        options_for("t", index)
