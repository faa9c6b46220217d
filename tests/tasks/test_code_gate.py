from __future__ import annotations

import os
from pathlib import Path

import pytest

from hydra_eval.errors import UserError
from hydra_eval.tasks.build import build_tasks
from hydra_eval.tasks.code_gate import VARIABLE, check_code_gate

from ..toys import composed, write_yaml

UNSAFE = {"u": {"task": "u", "file": "u.yaml", "unsafe_code": True}, "v": {"task": "v", "unsafe_code": True}}


def test_tasks_that_run_code_are_refused_by_name() -> None:
    with pytest.raises(
        UserError, match=r"^u.yaml: 'u' and 'v' run code that the model wrote.*: allow_code_execution=true$"
    ):
        check_code_gate({"s": {"task": "s", "unsafe_code": False}, **UNSAFE}, allowed=False)


def test_leave_given_is_passed_on_to_the_library_that_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    check_code_gate(UNSAFE, allowed=True)
    assert os.environ[VARIABLE] == "1"


def test_leave_without_need_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    check_code_gate({"s": {"task": "s"}}, allowed=True)
    assert VARIABLE not in os.environ


def test_nothing_of_a_refused_task_is_imported(tmp_path: Path) -> None:
    (tmp_path / "utils.py").write_text("raise RuntimeError('imported')\n", encoding="utf-8")
    write_yaml(tmp_path / "u.yaml", {"task": "u", "unsafe_code": True, "process_docs": "!function utils.f"})
    with pytest.raises(UserError, match="'u' runs code that the model wrote"):
        build_tasks(composed(tmp_path, "u"))
    with pytest.raises(UserError, match="imported"):
        build_tasks(composed(tmp_path, "u", allow_code_execution=True))
