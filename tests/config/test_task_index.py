from __future__ import annotations

import logging
from pathlib import Path

import pytest

from hydra_eval.config.task_index import task_index
from hydra_eval.errors import UserError

from ..toys import write_yaml


def folders(tmp_path: Path, *names: str) -> tuple[Path, ...]:
    """Task folders, each with a task `shared` and one of its own; the last is the shelf."""
    for name in names:
        write_yaml(tmp_path / name / "shared.yaml", {"task": "shared", "tag": "both"})
        write_yaml(tmp_path / name / "own" / f"{name}.yaml", {"task": name, "tag": ["one", "two"]})
    return tuple(tmp_path / name for name in names)


def test_every_task_and_group_below_the_folders_is_known(tmp_path: Path) -> None:
    write_yaml(tmp_path / "shelf" / "group.yaml", {"group": "all", "task": ["shelf"]})
    entries = task_index(folders(tmp_path, "user", "shelf")).entries
    assert {name: entry.kind for name, entry in entries.items()} == {
        "shared": "task",
        "user": "task",
        "shelf": "task",
        "all": "group",
    }


def test_tags_are_a_string_or_a_list(tmp_path: Path) -> None:
    entries = task_index(folders(tmp_path, "shelf")).entries
    assert (entries["shared"].tags, entries["shelf"].tags) == (("both",), ("one", "two"))


def test_a_users_folder_wins_over_the_shelf_and_the_index_says_so(tmp_path: Path) -> None:
    index = task_index(folders(tmp_path, "user", "shelf"))
    mine, theirs = tmp_path / "user" / "shared.yaml", tmp_path / "shelf" / "shared.yaml"
    assert index.entries["shared"].path == mine
    assert index.shadowed == {"shared": (mine, theirs)}


def test_one_name_in_two_user_folders_is_an_error_that_names_both_files(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"'shared' is defined twice: in .*one/shared.yaml and in .*two/shared.yaml"):
        task_index(folders(tmp_path, "one", "two", "shelf"))


def test_one_name_twice_in_a_folder_takes_the_first_file_and_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_yaml(tmp_path / "a.yaml", {"task": "same"})
    write_yaml(tmp_path / "b.yaml", {"task": "same"})
    with caplog.at_level(logging.WARNING):
        assert task_index((tmp_path,)).entries["same"].path == tmp_path / "a.yaml"
    assert caplog.messages == [
        f"{tmp_path}/b.yaml: the name 'same' is already taken by {tmp_path}/a.yaml, which counts."
    ]


def test_a_broken_file_is_kept_with_its_reason_and_hides_no_other(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("task: [", encoding="utf-8")
    write_yaml(tmp_path / "good.yaml", {"task": "good"})
    index = task_index((tmp_path,))
    assert list(index.entries) == ["good"]
    assert list(index.broken) == [tmp_path / "bad.yaml"]


def test_bases_without_a_name_are_no_entries(tmp_path: Path) -> None:
    write_yaml(tmp_path / "base.yaml", {"dataset_path": "x"})
    (tmp_path / "_suffixless").write_text("task: hidden\n", encoding="utf-8")
    assert task_index((tmp_path,)).entries == {}


def test_indexing_imports_no_task_code(tmp_path: Path) -> None:
    (tmp_path / "utils.py").write_text("raise SystemExit('imported')", encoding="utf-8")
    write_yaml(tmp_path / "t.yaml", {"task": "t", "process_docs": "!function utils.f"})
    assert list(task_index((tmp_path,)).entries) == ["t"]


@pytest.mark.parametrize("tag", [3, [None], {"a": 1}])
def test_a_tag_that_is_no_name_breaks_its_own_file_alone(tmp_path: Path, tag: object) -> None:
    write_yaml(tmp_path / "bad.yaml", {"task": "bad", "tag": tag})
    write_yaml(tmp_path / "good.yaml", {"task": "good"})
    index = task_index((tmp_path,))
    assert set(index.entries) == {"good"}
    assert "tag=" in index.broken[tmp_path / "bad.yaml"]
