"""With local data and a local model nothing is looked up or connected to outside this machine."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.program import results_in, run_alone, run_program, samples_in, start
from tests.toy_tasks import CHOICE, write_task

WATCHER = """
import json, os, sys

OURS = any(part.endswith("run.py") for part in sys.orig_argv) and "launch" not in sys.orig_argv
LOOKUPS = ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr")


def watch(event, arguments):
    if event in ("socket.connect", "socket.sendto"):
        address = arguments[1]
    elif event in LOOKUPS:
        address = arguments[0]
    else:
        return
    with open(os.environ["WATCHED"], "a") as log:
        log.write(json.dumps([event, repr(address)]) + "\\n")


if OURS:
    sys.addaudithook(watch)
    with open(os.environ["WATCHED"], "a") as log:
        log.write(json.dumps(["started", "process"]) + "\\n")
"""
LOOPBACK = ("'127.", "('127.", "('::1", "'localhost'", "('localhost'", "None", "b'localhost'")


def is_outside(event: str, address: str) -> bool:
    """A path is a local socket; whatever is neither that nor loopback has left the machine."""
    return event != "started" and not address.startswith(LOOPBACK) and not address.startswith(("'/", "b'/", "'\\x00"))


@pytest.mark.multiprocess
@pytest.mark.parametrize("processes", [1, 2])
def test_our_processes_reach_nothing_outside_loopback(tmp_path: Path, processes: int) -> None:
    (tmp_path / "watch").mkdir()
    (tmp_path / "watch" / "sitecustomize.py").write_text(WATCHER)
    log = tmp_path / "watched.jsonl"
    done = run_program(
        "limit=4",
        processes=processes,
        cwd=tmp_path,
        PYTHONPATH=str(tmp_path / "watch"),
        WATCHED=str(log),
        HF_HUB_OFFLINE="0",
    )
    assert done.returncode == 0, done.stderr
    seen = [json.loads(line) for line in log.read_text().splitlines()]
    assert [event for event, _ in seen].count("started") == processes
    assert [entry for entry in seen if is_outside(*entry)] == []


@pytest.mark.multiprocess
def test_the_demo_gives_the_same_files_without_any_network(tmp_path: Path) -> None:
    isolated = ("unshare", "--net", "--map-root-user", "sh", "-c", 'ip link set lo up && exec "$@"', "sh")
    if shutil.which("unshare") is None or subprocess.run([*isolated, "true"], capture_output=True).returncode:
        pytest.skip("needs the right to make a network namespace (unshare --net)")
    what = ("limit=12", "tracker=none")
    online = run_alone(*what, "hydra.run.dir=online", cwd=tmp_path, HF_HUB_OFFLINE="0")
    command = [*isolated, *online.args[:2], *what, "hydra.run.dir=offline"]
    offline = start(*command, cwd=tmp_path, HF_HUB_OFFLINE="0")
    assert (online.returncode, offline.returncode) == (0, 0), offline.stderr
    assert len(samples_in(tmp_path / "online")) == 3
    assert samples_in(tmp_path / "online") == samples_in(tmp_path / "offline")
    assert results_in(tmp_path / "online")["results"] == results_in(tmp_path / "offline")["results"]


def test_a_data_set_out_of_reach_is_named(tmp_path: Path) -> None:
    """How long the hub is waited for is held in `tests/test_hub.py`."""
    keys = CHOICE | {"dataset_path": "nobody/nothing-here", "dataset_kwargs": None, "test_split": "test"}
    write_task(tmp_path / "tasks", "distant", 1, **keys)
    what = ("task=distant", f"hydra.searchpath=[tasks://{tmp_path / 'tasks'}]", "tracker=none", "model=dummy")
    done = run_alone(*what, cwd=tmp_path, HF_HUB_OFFLINE="0", HF_ENDPOINT="http://127.0.0.1:9")
    assert done.returncode == 1
    assert "nobody/nothing-here" in done.stderr and "data.root" in done.stderr
    assert "Traceback" not in done.stderr
