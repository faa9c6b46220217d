from __future__ import annotations

import re
from pathlib import Path
from typing import Any

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


def test_one_name_twice_in_a_folder_takes_the_first_file_in_the_order_of_paths(tmp_path: Path) -> None:
    for name in ("b.yaml", "a/z.yaml", "a-b.yaml"):
        write_yaml(tmp_path / name, {"task": "same"})
    index = task_index((tmp_path,))
    assert index.entries["same"].path == tmp_path / "a-b.yaml"
    assert index.doubled == {"same": (tmp_path / "a-b.yaml", tmp_path / "a" / "z.yaml")}


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


def test_tags_are_those_of_tasks_also_from_a_base_and_over_all_folders(tmp_path: Path) -> None:
    (tmp_path / "shelf").mkdir()
    (tmp_path / "shelf" / "_base").write_text("tag: [both, from_base]\n", encoding="utf-8")
    write_yaml(tmp_path / "shelf" / "in.yaml", {"task": "includes", "include": "_base"})
    write_yaml(tmp_path / "shelf" / "own.yaml", {"task": "has_own", "include": "_base", "tag": "own"})
    write_yaml(tmp_path / "shelf" / "g.yaml", {"group": "g", "task": ["includes"], "tag": "handed_down"})
    write_yaml(tmp_path / "shelf" / "c.yaml", {"task": "a_class", "class": "!function x.Y", "tag": "own"})
    assert task_index(folders(tmp_path, "user", "shelf")).tags == {
        "both": ("includes", "shared"),
        "from_base": ("includes",),
        "one": ("shelf", "user"),
        "own": ("a_class", "has_own"),
        "two": ("shelf", "user"),
    }


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ({"task": "t"}, "task"),
        ({"include": "_named"}, "task"),
        ({"task": "t", "include": "_class"}, "class"),
        ({"task": "t", "group": "g", "include": "_class"}, "class"),
        ({"group": "t", "task": ["x"]}, "group"),
    ],
    ids=["task", "name from a base", "class from a base", "class in a group", "group"],
)
def test_what_a_file_defines_is_told_after_its_includes(tmp_path: Path, content: Any, kind: str) -> None:
    (tmp_path / "_named").write_text("task: t\n", encoding="utf-8")
    (tmp_path / "_class").write_text("class: !function task.X\n", encoding="utf-8")
    write_yaml(tmp_path / "t.yaml", content)
    assert {name: entry.kind for name, entry in task_index((tmp_path,)).entries.items()} == {"t": kind}


@pytest.mark.parametrize(
    ("base", "reason"),
    [
        ("include: _base\n", "t.yaml.*: .*_base: includes itself"),
        ("a: [", "_base: not valid YAML"),
        (None, r"t.yaml: include '_base' wants the file .*_base, which does not exist"),
    ],
    ids=["cycle", "broken", "missing"],
)
def test_a_broken_base_disables_its_own_tasks_alone(tmp_path: Path, base: str | None, reason: str) -> None:
    if base is not None:
        (tmp_path / "_base").write_text(base, encoding="utf-8")
    write_yaml(tmp_path / "t.yaml", {"task": "t", "include": "_base"})
    write_yaml(tmp_path / "good.yaml", {"task": "good"})
    index = task_index((tmp_path,))
    assert list(index.entries) == ["good"]
    assert re.search(reason, f"{tmp_path}/t.yaml: {index.broken[tmp_path / 't.yaml']}")


@pytest.mark.parametrize("folder", ["with space", "with (brackets)", "with.dot", "über"])
def test_folders_of_any_name(tmp_path: Path, folder: str) -> None:
    write_yaml(tmp_path / folder / "t.yaml", {"task": "t"})
    assert list(task_index((tmp_path / folder,)).entries) == ["t"]


@pytest.mark.parametrize("folder", ["__pycache__", ".ipynb_checkpoints"])
def test_folders_that_tools_leave_hold_no_tasks(tmp_path: Path, folder: str) -> None:
    write_yaml(tmp_path / folder / "t.yaml", {"task": "t"})
    assert task_index((tmp_path,)).entries == {}


def test_names_with_colons_are_known_by_their_prefixes(tmp_path: Path) -> None:
    for name in ("a:b:c", "a:b", "plain"):
        write_yaml(tmp_path / f"{name.replace(':', '_')}.yaml", {"task": name})
    write_yaml(tmp_path / "g.yaml", {"group": "a:g", "task": ["plain"]})
    assert task_index((tmp_path,)).prefixes == {"a": ("a:b", "a:b:c"), "a:b": ("a:b:c",)}


TABLE = """
raise SystemExit("imported")
TASKS_TABLE = [LightevalTaskConfig(name="one"), LightevalTaskConfig(name="two:easy")]
"""


def test_python_tables_are_read_as_text(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "table.py").write_text(TABLE, encoding="utf-8")
    (tmp_path / "utils.py").write_text("raise SystemExit('imported')\n", encoding="utf-8")
    (tmp_path / "bad.py").write_text("TASKS_TABLE = [\n", encoding="utf-8")
    index = task_index((tmp_path,))
    assert {name: entry.kind for name, entry in index.entries.items()} == {"one": "table", "two:easy": "table"}
    assert index.tables == (tmp_path / "deep" / "table.py",)
    assert list(index.broken) == [tmp_path / "bad.py"]
