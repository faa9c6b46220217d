"""Starts the real program in a subprocess, as a user would."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LIMIT_SECONDS = 300


def run_program(*arguments: str, processes: int = 1, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """`accelerate launch run.py ARGUMENTS` in `cwd`; passing the time limit counts as a hang."""
    launch = [sys.executable, "-m", "accelerate.commands.accelerate_cli", "launch"]
    if processes > 1:
        launch += ["--multi_gpu", "--num_processes", str(processes), "--main_process_port", str(free_port())]
    return start(*launch, str(ROOT / "run.py"), *arguments, cwd=cwd, **environment)


def run_alone(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """`python run.py ARGUMENTS`: one process without a launcher, whose exit code is the program's own."""
    return start(sys.executable, str(ROOT / "run.py"), *arguments, cwd=cwd, **environment)


def start(*command: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=cwd,
        env=clean_environment() | environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )


def clean_environment() -> dict[str, str]:
    """The present environment without what would change a run's answers or send it elsewhere."""
    unwanted = ("HYDRA_", "WANDB_", "RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_", "OMP_NUM_THREADS")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(unwanted)}
    told = {"PYTHONFAULTHANDLER": "1"}  # a crash in a library's own code says where
    return kept | told | {"HF_HUB_OFFLINE": "1", "COLUMNS": "200", "OMP_WAIT_POLICY": "PASSIVE"}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def results_in(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "results.json").read_text(encoding="utf-8")))


def samples_in(folder: Path) -> dict[str, bytes]:
    """File name → content of every samples file."""
    return {path.name: path.read_bytes() for path in sorted(folder.glob("samples_*.jsonl"))}
