"""Offline means that nobody is looked up, and that no home is needed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .wandb_reader import offline_runs

pytest.importorskip("wandb")

PROGRAM = Path(__file__).with_name("offline_life.py")


def run_program(folder: Path, *before: str) -> subprocess.CompletedProcess[str]:
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("WANDB_", "XDG_"))}
    environ |= {"HOME": "/dev/null", "NETRC": "/dev/null/.netrc"}
    command = [*before, sys.executable, str(PROGRAM), str(folder)]
    return subprocess.run(command, env=environ, cwd=folder, capture_output=True, text=True, check=True, timeout=300)


def test_our_process_reaches_nothing_and_says_nothing(tmp_path: Path) -> None:
    program = run_program(tmp_path)
    (run,) = offline_runs(tmp_path)
    assert json.loads(program.stdout) == {"reached": [], "link": f"wandb sync {run.folder}"}
    assert program.stderr == ""
    assert (run.summary["t/exact_match"], len(run.table("samples/t"))) == (1.0, 1)


def test_wandbs_process_reaches_nothing_either(tmp_path: Path) -> None:
    if not (strace := shutil.which("strace")):
        pytest.skip("strace is not installed")
    trace, folder = tmp_path / "trace", tmp_path / "run"
    folder.mkdir()
    try:
        run_program(folder, strace, "-f", "-qq", "-o", str(trace), "-e", "trace=connect,sendto,execve")
    except subprocess.CalledProcessError as error:
        if "ptrace" in error.stderr or "PTRACE" in error.stderr:
            pytest.skip("strace may not trace here")
        raise
    calls = trace.read_text(errors="replace")
    assert "wandb-core" in calls
    assert re.findall(r".*sa_family=AF_INET.*", calls) == []
