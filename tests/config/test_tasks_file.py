from __future__ import annotations

from pathlib import Path

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import ChoiceSweep

from hydra_eval.config.command_line import parse_command_line
from hydra_eval.config.tasks_file import expanded, specs_of, with_tasks_file
from hydra_eval.errors import UserError


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "my tasks.txt"
    path.write_text("# mine\none|5\n\n  two@k='x'  # why\nname(x)\none|5\n", encoding="utf-8")
    return path


LISTED = ["one|5", "two@k='x'", "name(x)", "one|5"]


def asked(argv: list[str]) -> list[list[str]]:
    """The lists of SPECs that Hydra reads in the rewritten command: one, or one per job of a sweep."""
    (override,) = [argument for argument in argv if argument.startswith("task=")]
    value = OverridesParser.create().parse_override(override).value()
    jobs = value.list if isinstance(value, ChoiceSweep) else [value]
    return [[getattr(name, "text", name) for name in job] for job in jobs]


def test_one_spec_a_line_without_comments(file: Path) -> None:
    assert specs_of(file) == LISTED


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ([], [LISTED]),
        (["task=zero"], [["zero", *LISTED]]),
        (["task=[b,'a b',c|2]"], [["b", "a b", "c|2", *LISTED]]),
        (["task=old", "task=new"], [["new", *LISTED]]),
        (["task=[]"], [LISTED]),
        (["-m", "task=a,[b,'c d']"], [["a", *LISTED], ["b", "c d", *LISTED]]),
    ],
)
def test_the_lines_follow_what_is_typed(file: Path, task: list[str], expected: list[list[str]]) -> None:
    argv = with_tasks_file(["seed=1", *task, f"tasks_file='{file}'", "limit=2"])
    assert asked(argv) == expected
    assert argv[0] == "seed=1"
    assert "limit=2" in argv
    assert not any("tasks_file" in argument for argument in argv)


def test_a_command_without_a_file_stays_as_it_is() -> None:
    assert with_tasks_file(["task=a", "-m", "seed=1,2"]) == ["task=a", "-m", "seed=1,2"]


def test_the_last_file_counts_and_flags_are_kept(tmp_path: Path, file: Path) -> None:
    command = expanded(parse_command_line(["-m", f"tasks_file={tmp_path}/no", f"+tasks_file='{file}'", "seed=1,2"]))
    assert asked(list(command.overrides)) == [LISTED]
    assert command.multirun
    assert command.repeated_specs() == ["one|5"]


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["tasks_file=/not/there"], "tasks_file=/not/there: cannot be read: No such file or directory"),
        (["tasks_file="], "tasks_file=: tasks_file is the path of one file"),
        (["tasks_file=a,b"], "tasks_file=a,b: tasks_file is the path of one file; for a sweep list the tasks in task="),
        (["tasks_file=a b=c"], "tasks_file=a b=c: cannot be read"),
        (["tasks_file={file}", "task=glob(a*)"], r"task=glob\(a\*\): tasks_file goes together with names and lists"),
        (["tasks_file={file}", "task=[a"], r"task=\[a: cannot be read"),
        (["tasks_file={folder}/empty"], r"empty: the file names no task; write one SPEC a line"),
        (["tasks_file={folder}/latin"], r"latin: cannot be read: 'utf-8' codec"),
    ],
)
def test_what_is_wrong_with_the_file(tmp_path: Path, argv: list[str], message: str) -> None:
    (tmp_path / "good").write_text("a\n", encoding="utf-8")
    (tmp_path / "empty").write_text("# nothing\n", encoding="utf-8")
    (tmp_path / "latin").write_bytes(b"\xe9\n")
    names = {"file": str(tmp_path / "good"), "folder": str(tmp_path)}
    given = [argument.replace("{file}", names["file"]).replace("{folder}", names["folder"]) for argument in argv]
    with pytest.raises(UserError, match=message):
        with_tasks_file(given)
