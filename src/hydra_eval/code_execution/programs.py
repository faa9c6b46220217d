"""The parent's side: start, wait, stop, read what came out."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

GUARD = Path(__file__).with_name("guard.py")
FILE_MEGABYTES = 16
"""Longest file that a program may write, its output included."""
SHOWN_BYTES = 65_536
"""Of its output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a program ended."""

    passed: bool
    """It ran to its last line: no error, no exit of its own, no time-out."""
    exit_code: int | None
    """None where it was stopped after its time; negative for a signal."""
    stdout: str
    stderr: str
    seconds: float

    @property
    def timed_out(self) -> bool:
        return self.exit_code is None


def run_program(source: str, *, seconds: float, megabytes: int, stdin: str = "") -> Outcome:
    """Run Python source as a main program, in an empty folder of its own.

    `seconds` are of wall-clock time, start of Python included; `megabytes` are of address space.
    """
    with TemporaryDirectory(prefix="hydra-eval-", ignore_cleanup_errors=True) as place:
        folder = Path(place)
        box = folder / "box"
        box.mkdir()
        (box / "program.py").write_text(source, encoding="utf-8", errors="surrogatepass")
        (folder / "stdin").write_text(stdin, encoding="utf-8")
        reading, writing = os.pipe()
        began = time.perf_counter()
        try:
            exit_code = _run(folder, writing, seconds=seconds, megabytes=megabytes)
            finished = _says_so(reading)
        finally:
            os.close(reading)
        return Outcome(
            passed=finished and exit_code == 0,
            exit_code=exit_code,
            stdout=_text(folder / "stdout"),
            stderr=_text(folder / "stderr"),
            seconds=time.perf_counter() - began,
        )


def passes(programs: Sequence[str], *, seconds: float = 3.0, megabytes: int = 1024, workers: int = 1) -> list[bool]:
    """Which programs run to their last line, in order; `workers` of them at a time."""
    run = partial(run_program, seconds=seconds, megabytes=megabytes)
    with ThreadPoolExecutor(max_workers=workers) as pool:
        return [outcome.passed for outcome in pool.map(run, programs)]


def pass_at_k(samples: int, correct: int, k: int) -> float:
    """The chance that at least one of k draws without repeats is correct: Chen et al. (2021), unbiased."""
    if not 0 <= correct <= samples or not 1 <= k <= samples:
        raise ValueError(f"pass@{k} of {samples} samples with {correct} correct is not defined")
    return 1.0 - math.prod(1.0 - k / rest for rest in range(samples - correct + 1, samples + 1))


def _run(folder: Path, writing: int, *, seconds: float, megabytes: int) -> int | None:
    """The exit code; None after a time-out. Whatever is left of the program's process group is killed."""
    command = [sys.executable, "-s", "-P", "-B", str(GUARD), str(writing), str(megabytes), str(FILE_MEGABYTES)]
    with (folder / "stdin").open("rb") as given, _new(folder / "stdout") as out, _new(folder / "stderr") as errors:
        process = subprocess.Popen(
            [*command, str(math.ceil(seconds) + 1)],
            stdin=given,
            stdout=out,
            stderr=errors,
            cwd=folder / "box",
            env=_environment(folder / "box"),
            pass_fds=(writing,),
            start_new_session=True,
        )
        os.close(writing)
        try:
            return process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _says_so(reading: int) -> bool:
    """Whether the guard wrote that the last line was reached."""
    os.set_blocking(reading, False)
    try:
        return os.read(reading, 1) == b"1"
    except BlockingIOError:  # nothing was written, and somebody still holds the other end
        return False


def _new(path: Path) -> IO[bytes]:
    return path.open("xb")


def _environment(box: Path) -> dict[str, str]:
    """Nothing of the user's; hashes of strings are the same in every run."""
    home = str(box)
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {"PATH": os.defpath, "HOME": home, "TMPDIR": home, "PYTHONHASHSEED": "0", "PYTHONUTF8": "1", **threads}


def _text(path: Path) -> str:
    with path.open("rb") as written:
        return written.read(SHOWN_BYTES).decode(errors="replace")
