from __future__ import annotations

import os
from pathlib import Path

import pytest

from hydra_eval.config.task_folders import VARIABLE, task_folders
from hydra_eval.errors import UserError
from hydra_eval.resources import shelf_folder


@pytest.fixture
def three(tmp_path: Path) -> list[str]:
    folders = [tmp_path / name for name in ("a", "b", "c")]
    for folder in folders:
        folder.mkdir()
    return [str(folder) for folder in folders]


def folders(monkeypatch: pytest.MonkeyPatch, *argv: str, environment: str = "") -> list[str]:
    monkeypatch.setattr("sys.argv", ["run.py", *argv])
    monkeypatch.setenv(VARIABLE, environment)
    return task_folders().split(os.pathsep)


def test_the_shelf_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert folders(monkeypatch) == [str(shelf_folder())]


def test_the_command_line_comes_first_the_shelf_last(monkeypatch: pytest.MonkeyPatch, three: list[str]) -> None:
    a, b, c = three
    found = folders(monkeypatch, f"hydra.searchpath=[tasks://{b}, 'tasks://{a}', file://x]", environment=c)
    assert found == [b, a, c, str(shelf_folder())]


def test_a_folder_named_twice_counts_once(monkeypatch: pytest.MonkeyPatch, three: list[str]) -> None:
    a, b, _ = three
    assert folders(monkeypatch, environment=os.pathsep.join([b, a, b])) == [b, a, str(shelf_folder())]


def test_the_last_search_path_counts_as_in_hydra(monkeypatch: pytest.MonkeyPatch, three: list[str]) -> None:
    a, b, _ = three
    found = folders(monkeypatch, f"hydra.searchpath=[tasks://{a}]", f"hydra.searchpath=[tasks://{b}]")
    assert found == [b, str(shelf_folder())]


def test_a_relative_folder_becomes_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, three: list[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert folders(monkeypatch, "hydra.searchpath=[tasks://a]") == [three[0], str(shelf_folder())]


@pytest.mark.parametrize(
    ("argv", "environment", "message"),
    [
        (["hydra.searchpath=[tasks:///not/there]"], "", "hydra.searchpath: the task folder /not/there does not exist"),
        ([], "/not/there", "HYDRA_EVAL_TASK_PATH: the task folder /not/there does not exist"),
    ],
)
def test_a_folder_that_is_not_there(
    monkeypatch: pytest.MonkeyPatch, argv: list[str], environment: str, message: str
) -> None:
    with pytest.raises(UserError, match=message):
        folders(monkeypatch, *argv, environment=environment)


def test_a_file_is_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.yaml").write_text("task: t\n", encoding="utf-8")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "t.yaml"))
    with pytest.raises(UserError, match=r"t\.yaml is a file; name the folder it lies in"):
        task_folders()
