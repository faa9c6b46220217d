"""The house rules that tools can hold."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize(
    "command",
    [["ruff", "check"], ["ruff", "format", "--check"], ["mypy"]],
    ids=["ruff check", "ruff format", "mypy"],
)
def test_the_tree_is_clean(command: list[str]) -> None:
    pytest.importorskip(command[0], reason="needs the extra: dev")
    found = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
