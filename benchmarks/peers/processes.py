"""One process per order, one after the other."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.peers.order import Figures, Order, read_figures

REPOSITORY = Path(__file__).resolve().parents[2]
LAST_LINES = 15
OUT = "out of memory"
OUT_OF_MEMORY = ("can't allocate memory", "Cannot allocate memory", "not enough memory", "out of memory", "MemoryError")
SPARED = 0.9
"""Of the memory that is free, what a process may take: more, and the system would end any process it likes."""
OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_UPDATE_DOWNLOAD_COUNTS": "0"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of an order."""

    order: Order
    seconds: float
    """Of the whole process, from its start to its end."""
    figures: Figures | None = None
    failure: str = ""
    """Why there are no figures: `OUT`, or its last lines."""
    is_reused: bool = False
    """Measured by an earlier run of the same script on this machine."""

    @property
    def folder(self) -> Path:
        return Path(self.order.folder)


def run(order: Order, module: str, python: str = sys.executable) -> Outcome:
    """Start `module` on the order with nothing of an earlier run in its folder; what it says goes into its log."""
    shutil.rmtree(order.folder, ignore_errors=True)
    path = order.write()
    log = path.with_name("log.txt")
    start = time.perf_counter()
    with log.open("w", encoding="utf-8") as stream:
        command = [python, "-m", module, str(path)]
        done = subprocess.run(
            command, cwd=REPOSITORY, env=environment(order), stdout=stream, stderr=subprocess.STDOUT, check=False
        )
    seconds = time.perf_counter() - start
    if done.returncode == 0:
        return Outcome(order=order, seconds=seconds, figures=read_figures(order))
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return Outcome(order=order, seconds=seconds, failure=failure_of(done.returncode, lines))


def environment(order: Order) -> dict[str, str]:
    """The same for every program."""
    threads = {name: str(order.threads) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")}
    return {**os.environ, **OFFLINE, **threads, "OMP_WAIT_POLICY": "PASSIVE", "TOKENIZERS_PARALLELISM": "false"}


def failure_of(code: int, lines: list[str]) -> str:
    """Out of memory is an answer, anything else an error to be read."""
    last = lines[-LAST_LINES:]
    if code == -signal.SIGKILL or any(part in line for line in last for part in OUT_OF_MEMORY):
        return OUT
    return "\n".join([f"exit code {code}", *last])


def spare_memory() -> int | None:
    """Bytes that a process may take; None where the system does not say."""
    facts = Path("/proc/meminfo")
    if not facts.exists():
        return None
    line = next(line for line in facts.read_text(encoding="ascii").splitlines() if line.startswith("MemAvailable:"))
    return int(SPARED * int(line.split()[1]) * 1024)
