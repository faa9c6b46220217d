"""Programs that a model might write; every test ends, whatever the program does."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from hydra_eval.code_execution import Outcome, pass_at_k, passes, run_program

needs_kernel = pytest.mark.skipif(not Path("/proc/sys/kernel/seccomp").is_dir(), reason="needs Linux with seccomp")


DEAF = """
import signal
for number in range(1, 32):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
while True:
    pass
"""
BOMB = """
import os
while True:
    try:
        if os.fork() == 0:
            open({log!r}, "a").write("x")
    except OSError:
        pass
"""
UNDOING = """
import ctypes
libc = ctypes.CDLL(None)
libc.prctl(22, 0, 0, 0, 0)
assert libc.fork() == -1
assert libc.socket(2, 1, 0) == -1
"""


def run(source: str, *, seconds: float = 20, megabytes: int = 512, stdin: str = "") -> Outcome:
    return run_program(source, seconds=seconds, megabytes=megabytes, stdin=stdin)


@pytest.mark.parametrize(
    "source",
    [
        "assert 1 + 1 == 2",
        "print('hello')",
        "if __name__ == '__main__':\n    x = 1\nassert x == 1",
        "import threading\nt = threading.Thread(target=print)\nt.start(); t.join()",
        "import threading, time\nthreading.Thread(target=lambda: time.sleep(60)).start()",
        "import asyncio\nasync def f(): return 3\nassert asyncio.run(f()) == 3",
        "import os\nassert os.listdir('.') == ['program.py']\nopen('mine', 'w').write('x')",
        "assert input() == 'first'; assert input() == 'second'",
        "import sys\nassert len(sys.argv) == 1",
        "from __future__ import annotations\ndef f(x: nothing): ...",
    ],
    ids=["assert", "print", "main", "thread", "left thread", "asyncio", "own folder", "input", "argv", "future"],
)
def test_a_program_that_reaches_its_last_line_passes(source: str) -> None:
    outcome = run(source, stdin="first\nsecond\n")
    assert (outcome.passed, outcome.exit_code, outcome.timed_out) == (True, 0, False), outcome.stderr


@pytest.mark.parametrize(
    ("source", "exit_code", "told"),
    [
        ("def f():\n    assert 1 == 2, 'no'\nf()", 1, 'File "program.py", line 2, in f'),
        ("def (:", 1, "SyntaxError"),
        ("raise KeyboardInterrupt", 1, "KeyboardInterrupt"),
        ("def f(): f()\nf()", 1, "RecursionError"),
        ("input()", 1, "EOFError"),
        ("import sys\nsys.exit(0)\nassert False", 0, ""),
        ("import sys; sys.exit(3)", 3, ""),
        ("exit('bye')", 1, ""),
        ("import os; os._exit(0)", 0, ""),
        ("import os; os.abort()", -6, ""),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", -9, ""),
        ("x = '\ud800'", 1, "UnicodeDecodeError"),
    ],
    ids=[
        "assert",
        "syntax",
        "interrupt",
        "recursion",
        "input",
        "exit 0",
        "exit 3",
        "exit text",
        "_exit",
        "abort",
        "kill",
        "text",
    ],
)
def test_any_other_end_does_not_pass(source: str, exit_code: int, told: str) -> None:
    outcome = run(source)
    assert (outcome.passed, outcome.exit_code) == (False, exit_code)
    assert told in outcome.stderr


@pytest.mark.parametrize(
    "source",
    [
        "while True: pass",
        "import time; time.sleep(600)",
        DEAF,
        "while True:\n    try: x = 1 / 0\n    except BaseException: pass",
        "import threading\ndef f():\n    while True: pass\nfor _ in range(4): threading.Thread(target=f).start()\nf()",
    ],
    ids=["loop", "sleep", "deaf to signals", "catches all", "threads"],
)
def test_a_program_without_end_is_stopped(source: str) -> None:
    outcome = run(source, seconds=1)
    assert (outcome.passed, outcome.timed_out) == (False, True)
    assert outcome.seconds < 5


@pytest.mark.parametrize(
    "source", ["x = bytearray(2 * 1024**3)", "x = []\nwhile True: x.append(' ' * 10**6)"], ids=["at once", "bit by bit"]
)
def test_memory_is_limited(source: str) -> None:
    outcome = run(source)
    assert not outcome.passed and "MemoryError" in outcome.stderr


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("while True: print('x' * 1000)", "File too large"),
        ("import sys\nwhile True: sys.stderr.write('x' * 1000)", ""),
        ("open('big', 'wb').write(b'0' * 10**8)", "File too large"),
    ],
    ids=["stdout", "stderr", "file"],
)
def test_what_is_written_is_limited(source: str, error: str) -> None:
    outcome = run(source)
    assert not outcome.passed and not outcome.timed_out and error in outcome.stderr
    assert len(outcome.stdout) + len(outcome.stderr) <= 2 * 65_536


@pytest.mark.parametrize(
    "source",
    [
        "import os; os.fork()",
        "import subprocess; subprocess.run(['true'])",
        "import os; assert os.system('true') == 0",
        "import multiprocessing as m; p = m.Process(target=print); p.start(); p.join()",
        "import os; os.posix_spawn('/bin/true', ['true'], {})",
        "import socket; socket.socket()",
        "import socket; socket.create_connection(('127.0.0.1', 22))",
        "import urllib.request; urllib.request.urlopen('http://127.0.0.1:1/')",
        "import os, signal; os.kill(os.getppid(), signal.SIGKILL)",
        "import os, signal; os.killpg(0, signal.SIGKILL); os.kill(1, 0)",
    ],
    ids=[
        "fork",
        "subprocess",
        "system",
        "multiprocessing",
        "spawn",
        "socket",
        "connection",
        "url",
        "kill",
        "kill group",
    ],
)
def test_children_network_and_signals_to_others_are_refused(source: str) -> None:
    outcome = run(source)
    assert not outcome.passed and not outcome.timed_out


@needs_kernel
def test_a_fork_bomb_makes_no_process(tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert run(BOMB.format(log=str(log)), seconds=1).timed_out
    assert not log.exists()


@needs_kernel
def test_python_cannot_undo_what_the_kernel_refuses() -> None:
    assert run(UNDOING).passed


def test_output_and_time_are_told() -> None:
    outcome = run("import sys\nprint('out')\nprint('err', file=sys.stderr)")
    assert (outcome.stdout, outcome.stderr) == ("out\n", "err\n")
    assert 0 < outcome.seconds < 20


def test_nothing_of_the_users_environment_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_API_KEY", "secret")
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    assert run("import os, sys\nassert 'WANDB_API_KEY' not in os.environ and '/nowhere' not in sys.path").passed


def test_sets_of_text_have_the_same_order_every_time() -> None:
    assert len({run("print(hash('a'))").stdout for _ in range(3)}) == 1


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = len(list(Path("/proc/self/fd").iterdir()))
    run("import os\nos.mkdir('d')\nopen('d/f', 'w')\nos.chmod('d', 0)")
    assert list(tmp_path.iterdir()) == []
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_many_programs_keep_their_order() -> None:
    programs = ["pass", "1 / 0", "import time; time.sleep(0.2)", "def (:"] * 3
    assert passes(programs, seconds=20, megabytes=512, workers=2) == [True, False, True, False] * 3


def test_workers_work_at_the_same_time() -> None:
    began = time.perf_counter()
    assert passes(["import time; time.sleep(1)"] * 4, seconds=20, workers=4) == [True] * 4
    assert time.perf_counter() - began < 3.5


@pytest.mark.parametrize(
    ("samples", "correct", "k", "expected"),
    [(10, 3, 1, 0.3), (5, 5, 5, 1.0), (5, 0, 2, 0.0), (4, 2, 2, 1 - 1 / 6), (10, 8, 3, 1.0), (1, 1, 1, 1.0)],
)
def test_pass_at_k_is_the_chance_of_a_draw(samples: int, correct: int, k: int, expected: float) -> None:
    assert pass_at_k(samples, correct, k) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("samples", "correct", "k"), [(3, 4, 1), (3, 1, 4), (3, 1, 0), (3, -1, 1)])
def test_pass_at_k_of_what_cannot_be(samples: int, correct: int, k: int) -> None:
    with pytest.raises(ValueError, match="is not defined"):
        pass_at_k(samples, correct, k)
