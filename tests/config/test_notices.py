from __future__ import annotations

from pathlib import Path

import pytest

from hydra_eval.config.compose import typed
from hydra_eval.config.notices import notices

from ..toys import write_yaml
from .conftest import Compose


@pytest.fixture
def mine(tmp_path: Path, composing: Compose) -> Path:
    for file, name in (("a", "a"), ("a2", "a"), ("arc", "arc_easy"), ("b", "b"), ("b2", "b")):
        write_yaml(tmp_path / "mine" / f"{file}.yaml", {"task": name, "dataset_path": "x", "test_split": "test"})
    return tmp_path / "mine"


def test_a_plain_run_says_nothing(composing: Compose) -> None:
    assert notices(typed(composing("task=[arc_easy|5,demo]"))) == []


def test_all_old_forms_in_one_line_with_the_new_ones(composing: Compose) -> None:
    assert notices(typed(composing("task=[lighteval|arc_easy|5,leaderboard|gsm8k|0|1,gsm8k|2]"))) == [
        "task=: the suite before the first bar counts for nothing: "
        "'lighteval|arc_easy|5' is 'arc_easy|5', 'leaderboard|gsm8k|0|1' is 'gsm8k|0'."
    ]


def test_of_names_with_two_files_those_of_the_run_are_told(mine: Path, composing: Compose) -> None:
    first, second = notices(typed(composing("task=[a,arc_easy]")))
    assert first.startswith(f"arc_easy: {mine}/arc.yaml counts, not the bundled ")
    assert second == f"a: {mine}/a.yaml counts, not {mine}/a2.yaml."


def test_many_names_with_two_files_take_one_line(tmp_path: Path, composing: Compose) -> None:
    for name in ("arc_easy", "piqa", "boolq"):
        write_yaml(tmp_path / "mine" / f"{name}.yaml", {"task": name, "dataset_path": "x", "test_split": "test"})
    (line,) = notices(typed(composing("task=[piqa,arc_easy,boolq]")))
    assert line.startswith(f"piqa: {tmp_path}/mine/piqa.yaml counts, not the bundled ")
    assert line.endswith("; the same for arc_easy, boolq.")


def test_a_task_asked_for_by_its_path_is_neither_file(mine: Path, composing: Compose, tmp_path: Path) -> None:
    other = write_yaml(tmp_path / "other" / "a.yaml", {"task": "a", "dataset_path": "x", "test_split": "test"})
    assert notices(typed(composing(f"task=['{other}']"))) == []
