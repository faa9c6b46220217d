from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from hydra_eval.config.compose import typed
from hydra_eval.config.task_index import TaskIndex, task_index
from hydra_eval.config.task_options import options_for
from hydra_eval.errors import UserError

from ..toys import write_yaml
from .conftest import Compose

TABLE = """
from lighteval.tasks.lighteval_task import LightevalTaskConfig
from lighteval.tasks.requests import Doc


def prompt(line, task_name=None):
    return Doc(task_name=task_name, query=line["q"], choices=["a", "b"], gold_index=0)


def entry(name):
    return LightevalTaskConfig(
        name=name,
        prompt_function=prompt,
        hf_repo="org/data",
        hf_subset="default",
        hf_avail_splits=["test"],
        evaluation_splits=["test"],
        metrics=[],
    )


TASKS_TABLE = [LightevalTaskConfig(name="lone", prompt_function=prompt, hf_repo="org/data", metrics=[])]
TASKS_TABLE += [entry(f"quiz:{subject}") for subject in ("law", "art")]
"""


def write_task(path: Path, name: str, **content: Any) -> Path:
    return write_yaml(path, {"task": name, "dataset_path": "json", "test_split": "test", **content})


@pytest.fixture
def index(tmp_path: Path) -> TaskIndex:
    """A folder `mine` with a task `t`."""
    write_task(tmp_path / "mine" / "t.yaml", "t")
    return task_index((tmp_path / "mine",))


def chosen(spec: str, index: TaskIndex) -> dict[str, Any]:
    (selection,) = options_for(spec, index)["selection"].values()
    return dict(selection["tasks"])


@pytest.mark.parametrize("name", ["other.yaml", "with space/o (1).yml", "../up/x.yaml"])
def test_a_file_outside_the_folders(
    tmp_path: Path, index: TaskIndex, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    path = write_task(tmp_path / "here" / name, "outside", process_docs="!function utils.f")
    options = options_for(f"{name}|3", index)
    assert options["selection"] == {
        f"{name}|3": {
            "name": name,
            "tasks": {"outside": "outside"},
            "shots": 3,
            "parameters": {},
            "file": str(path),
        }
    }
    assert options["tasks"]["outside"]["process_docs"] == f"!function {path.parent.resolve()}/utils.f"


def test_a_group_outside_the_folders_finds_its_members_there(tmp_path: Path, index: TaskIndex) -> None:
    path = write_yaml(tmp_path / "g.yaml", {"group": "g", "task": ["t"]})
    options = options_for(str(path), index)
    assert (list(options["tasks"]), list(options["groups"])) == (["t"], ["g"])


def test_a_file_of_a_folder_is_the_task_that_the_folder_has(tmp_path: Path, index: TaskIndex) -> None:
    assert options_for(f"{tmp_path}/mine/../mine/t.yaml", index)["tasks"] == options_for("t", index)["tasks"]


def test_a_file_with_the_name_of_another_task_has_a_key_of_its_own(tmp_path: Path, index: TaskIndex) -> None:
    assert chosen(str(write_task(tmp_path / "new" / "x.yaml", "t")), index) == {"new__t": "t"}


def test_two_files_with_one_name_are_not_mixed(tmp_path: Path, composing: Compose) -> None:
    first, second = (write_task(tmp_path / folder / "x.yaml", "x") for folder in ("one", "two"))
    with pytest.raises(UserError, match=rf"task={first}: 'x' is also asked for from {second}; ask for them in two"):
        typed(composing(f"task=[{first},{second}]"))
    assert list(typed(composing(f"task=[{first},{first}|2]")).tasks) == ["x"]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("no/such.yaml", r"task=no/such.yaml: the file /.*/no/such.yaml does not exist"),
        ("no/such.py:x", r"task=no/such.py: the file /.*/no/such.py does not exist"),
        ("{folder}/base.yaml", r"base.yaml: the file defines neither a task nor a group; it is a base"),
        ("{folder}/list.yaml", r"list.yaml: a task file is a mapping"),
        ("json", r"task=json: unknown task 'json'"),
        ("math:algebra", r"unknown task 'math:algebra'"),
        ("os.path:join", r"unknown task 'os.path:join'"),
        ("not_there.at_all:x", r"unknown task 'not_there.at_all:x'"),
    ],
)
def test_what_is_no_file_or_module_with_tasks(tmp_path: Path, index: TaskIndex, spec: str, message: str) -> None:
    write_yaml(tmp_path / "base.yaml", {"dataset_path": "x"})
    (tmp_path / "list.yaml").write_text("[a]\n", encoding="utf-8")
    with pytest.raises(UserError, match=message):
        options_for(spec.replace("{folder}", str(tmp_path)), index)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "tables" / "quiz_table.py"
    path.parent.mkdir()
    path.write_text(TABLE, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("rest", "names"),
    [
        ("", ["lone", "quiz:art", "quiz:law"]),
        (":lone", ["lone"]),
        (":quiz:art|5", ["quiz:art"]),
        (":quiz", ["quiz:art", "quiz:law"]),
        (":*l*", ["lone", "quiz:law"]),
    ],
)
def test_a_python_file_with_a_table(table: Path, index: TaskIndex, rest: str, names: list[str]) -> None:
    options = options_for(f"{table}{rest}", index)
    assert [content["task"] for content in options["tasks"].values()] == names
    assert {content["file"] for content in options["tasks"].values()} == {str(table)}
    assert all(content["table"] for content in options["tasks"].values())


def test_an_unknown_name_in_a_table_names_those_near(table: Path, index: TaskIndex) -> None:
    with pytest.raises(UserError, match=r"in the TASKS_TABLE of .*quiz_table.py: unknown task 'quiz:lwa'. Did you"):
        options_for(f"{table}:quiz:lwa", index)


@pytest.mark.parametrize("rest", [":quiz:law", ":quiz", ""])
def test_a_module_with_a_table(table: Path, index: TaskIndex, rest: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (table.parent / "__init__.py").write_text("", encoding="utf-8")
    monkeypatch.syspath_prepend(str(table.parent.parent))
    monkeypatch.delitem(sys.modules, "tables", raising=False)
    assert "quiz:law" in chosen(f"tables.quiz_table{rest}", index).values()


@pytest.mark.parametrize(
    ("spec", "names"),
    [("lone", ["lone"]), ("quiz:law", ["quiz:law"]), ("quiz", ["quiz:art", "quiz:law"]), ("*l*", ["lone", "quiz:law"])],
)
def test_tables_in_a_folder_also_with_names_that_are_computed(table: Path, spec: str, names: list[str]) -> None:
    index = task_index((table.parent,))
    assert list(index.entries) == ["lone"]
    assert list(chosen(spec, index).values()) == names


def test_a_table_that_cannot_be_imported_hides_no_other_and_is_named_where_a_name_is_missing(table: Path) -> None:
    (table.parent / "bad.py").write_text("import not_there\nTASKS_TABLE = []\n", encoding="utf-8")
    index = task_index((table.parent,))
    assert list(chosen("quiz:law", index).values()) == ["quiz:law"]
    with pytest.raises(UserError, match=r"unknown task 'quizz'.*cannot import .*bad.*: ModuleNotFoundError"):
        options_for("quizz", index)
