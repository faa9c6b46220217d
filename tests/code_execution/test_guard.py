"""What stands in where the kernel does not help, tried in a process of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

from hydra_eval.code_execution.guard import SYSTEMS, rules_for

PRELUDE = "from hydra_eval.code_execution.guard import refuse_by_python; refuse_by_python()\n"


@pytest.mark.parametrize(
    "source",
    [
        "import os; os.fork()",
        "import os; os.system('true')",
        "import os; os.kill(os.getppid(), 0)",
        "import subprocess; subprocess.run(['true'])",
        "import socket; socket.socket()",
        "import socket; socket.create_connection(('127.0.0.1', 22))",
        "import urllib.request; urllib.request.urlopen('http://127.0.0.1:1/')",
        "import multiprocessing as m; p = m.Process(target=print); p.start()",
    ],
)
def test_python_refuses(source: str) -> None:
    ended = subprocess.run([sys.executable, "-c", PRELUDE + source], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "refused while code of a model runs" in ended.stderr


@pytest.mark.parametrize("source", ["import asyncio", "import ssl, http.client", "import threading", "print(1)"])
def test_python_lets_the_rest_be(source: str) -> None:
    ended = subprocess.run([sys.executable, "-c", PRELUDE + source], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("machine", SYSTEMS)
def test_every_jump_of_a_filter_stays_within_it(machine: str) -> None:
    rules = rules_for(*SYSTEMS[machine], own=7)
    for place, rule in enumerate(rules[:-1]):
        assert place + 1 + max(rule.if_true, rule.if_false) < len(rules)
    assert len(rules) < 256
