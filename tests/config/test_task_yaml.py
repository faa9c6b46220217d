from __future__ import annotations

from pathlib import Path

import pytest

from hydra_eval.config.task_yaml import names_of, read_raw, read_task_yaml
from hydra_eval.errors import UserError


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_later_includes_win_and_the_file_itself_wins_over_all(tmp_path: Path) -> None:
    write(tmp_path / "first", "a: 1\nb: 1\nc: 1\n")
    write(tmp_path / "second", "b: 2\nc: 2\n")
    path = write(tmp_path / "task.yaml", "include: [first, second]\nc: 3\n")
    assert read_task_yaml(path) == {"a": 1, "b": 2, "c": 3}


def test_an_include_is_merged_by_top_level_key(tmp_path: Path) -> None:
    write(tmp_path / "base.yaml", "metadata: {version: 1.0, by: base}\n")
    path = write(tmp_path / "task.yaml", "include: base.yaml\nmetadata: {version: 2.0}\n")
    assert read_task_yaml(path) == {"metadata": {"version": 2.0}}


def test_an_own_null_wins_over_an_included_value(tmp_path: Path) -> None:
    write(tmp_path / "base", "description: hello\n")
    assert read_task_yaml(write(tmp_path / "task.yaml", "include: base\ndescription: null\n")) == {"description": None}


@pytest.mark.parametrize("include", ["_base", "./_base", "../shelf/_base", "deep/_inner"])
def test_includes_are_found_from_the_including_file_with_or_without_a_suffix(tmp_path: Path, include: str) -> None:
    write(tmp_path / "shelf" / "_base", "a: 1\n")
    write(tmp_path / "shelf" / "deep" / "_inner", "include: ../_base\n")
    assert read_task_yaml(write(tmp_path / "shelf" / "task.yaml", f"include: {include}\n")) == {"a": 1}


def test_an_absolute_include(tmp_path: Path) -> None:
    base = write(tmp_path / "elsewhere" / "base.yaml", "a: 1\n")
    assert read_task_yaml(write(tmp_path / "task.yaml", f"include: {base}\n")) == {"a": 1}


def test_a_base_that_two_includes_share_is_no_cycle(tmp_path: Path) -> None:
    write(tmp_path / "base", "a: 1\n")
    write(tmp_path / "left", "include: base\nb: 1\n")
    write(tmp_path / "right", "include: base\nc: 1\n")
    assert read_task_yaml(write(tmp_path / "task.yaml", "include: [left, right]\n")) == {"a": 1, "b": 1, "c": 1}


def test_a_true_cycle_is_an_error_that_shows_the_way(tmp_path: Path) -> None:
    write(tmp_path / "left", "include: right\n")
    write(tmp_path / "right", "include: left\n")
    with pytest.raises(UserError, match=r"left: includes itself: \S*left -> \S*right -> \S*left"):
        read_task_yaml(tmp_path / "left")


def test_task_list_is_not_inherited(tmp_path: Path) -> None:
    write(tmp_path / "base", "task_list: [x]\na: 1\n")
    assert read_task_yaml(write(tmp_path / "task.yaml", "include: base\n")) == {"a": 1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("include: nowhere\n", "include 'nowhere' wants the file .*nowhere, which does not exist"),
        ("include: 3\n", "include: 3 is given, but it must be a file's name"),
        ("a: [1\n", r"not valid YAML: .*line 2"),
        ("- a\n- b\n", "a task file is a mapping of keys, but this one holds a list"),
        ("", "a task file is a mapping of keys, but this one holds a NoneType"),
        ("a: !elsewhere b\n", "not valid YAML: .*!elsewhere"),
    ],
    ids=["missing include", "include is a number", "broken", "list", "empty", "foreign tag"],
)
def test_what_is_wrong_in_a_file_is_said_with_its_path(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path / "task.yaml", text)
    with pytest.raises(UserError, match=f"(?s){path}: {message}"):
        read_task_yaml(path)


def test_text_is_utf8(tmp_path: Path) -> None:
    assert read_raw(write(tmp_path / "task.yaml", 'description: "naïve 日本\\n"\n')) == {"description": "naïve 日本\n"}


def test_bytes_that_are_not_utf8_are_a_user_error(tmp_path: Path) -> None:
    (tmp_path / "task.yaml").write_bytes(b"description: caf\xe9\n")
    with pytest.raises(UserError, match=r"task\.yaml: not valid YAML"):
        read_raw(tmp_path / "task.yaml")


def test_a_function_is_found_beside_the_file_that_holds_the_tag(tmp_path: Path) -> None:
    write(tmp_path / "base" / "_base", "process_docs: !function utils.clean\n")
    content = read_task_yaml(write(tmp_path / "mine" / "task.yaml", "include: ../base/_base\nf: !function own.f\n"))
    assert content == {
        "process_docs": f"!function {tmp_path}/base/utils.clean",
        "f": f"!function {tmp_path}/mine/own.f",
    }


def test_reading_imports_nothing(tmp_path: Path) -> None:
    write(tmp_path / "utils.py", "raise SystemExit('imported')\n")
    path = write(tmp_path / "task.yaml", "process_docs: !function utils.clean\n")
    assert read_task_yaml(path)["process_docs"].startswith("!function ")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"task": "a"}, ("task", "a")),
        ({"group": "g", "task": ["a"]}, ("group", "g")),
        ({"group": "g", "task": "a", "class": "C"}, ("class", "a")),
        ({"dataset_path": "x"}, None),
        ({"task": ["a", "b"]}, None),
    ],
    ids=["task", "group", "python task", "base", "list without group"],
)
def test_what_a_file_defines(content: dict[str, object], expected: tuple[str, str] | None) -> None:
    assert names_of(content) == expected


def test_a_date_that_no_calendar_has_is_told_with_its_file(tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text("task: t\ndescription: 2020-13-45\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"t.yaml: not valid YAML: month"):
        read_raw(tmp_path / "t.yaml")
