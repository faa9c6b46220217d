"""What becomes of a process that fails, and of its figures in a later run."""

from __future__ import annotations

import json
import signal
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from benchmarks.peers.order import Figures, Order, read_order
from benchmarks.peers.processes import OUT, Outcome, failure_of, run
from benchmarks.peers.record import earlier_settings, outcomes_of, write_record

ORDER = Order(who="peer", task="t", file="t.yaml", shots=0, documents=1, model="m", batch=1, threads=1, folder="f")
FIGURES = Figures(
    load_s=1.0,
    request_s=2.0,
    cpu_s=2.0,
    request_peak=10,
    process_peak=20,
    positions=30,
    row_steps=4,
    logit_rows=5,
    threads=1,
)


@pytest.mark.parametrize(
    ("code", "last"),
    [
        pytest.param(1, "RuntimeError: [enforce fail] DefaultCPUAllocator: can't allocate memory: …", id="torch, CPU"),
        pytest.param(1, "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate …", id="torch, GPU"),
        pytest.param(1, "RuntimeError: unable to mmap 9 bytes: Cannot allocate memory (12)", id="weights"),
        pytest.param(1, "MemoryError", id="Python"),
        pytest.param(-signal.SIGKILL, "…", id="ended by the system"),
    ],
)
def test_out_of_memory_is_an_answer(code: int, last: str) -> None:
    assert failure_of(code, ["…", last]) == OUT


def test_any_other_error_is_shown() -> None:
    assert (
        failure_of(1, ["Traceback", "ValueError: no such model"]) == "exit code 1\nTraceback\nValueError: no such model"
    )


def test_a_failing_process_leaves_its_log(tmp_path: Path) -> None:
    order = Order(**{**asdict(ORDER), "folder": str(tmp_path / "out")})
    outcome = run(order, "benchmarks.peers.no_such_program")
    assert outcome.figures is None
    assert "No module named benchmarks.peers.no_such_program" in outcome.failure
    assert outcome.failure.splitlines()[-1] in (tmp_path / "out" / "log.txt").read_text(encoding="utf-8")


def test_an_order_is_read_as_it_was_written(tmp_path: Path) -> None:
    order = Order(**{**asdict(ORDER), "folder": str(tmp_path), "overrides": ("a=1", "b=2")})
    assert read_order(order.write()) == order


def test_figures_are_taken_up_again_and_marked() -> None:
    done = Outcome(order=ORDER, seconds=3.0, figures=FIGURES)
    none = Outcome(order=ORDER, seconds=3.0, failure=OUT)
    failed = Outcome(order=ORDER, seconds=3.0, failure="exit code 1")
    record = json.loads(json.dumps({"peers": [asdict(done), asdict(none), asdict(failed)]}))
    assert [(one.figures, one.failure, one.is_reused) for one in outcomes_of(record)] == [
        (FIGURES, "", True),
        (None, OUT, True),
    ]


def test_figures_of_another_run_are_refused_by_name(tmp_path: Path) -> None:
    path, here = tmp_path / "found.json", {"threads": 2, "dtype": "float32"}
    write_record(path, {"run": here, "settings": {"one": {}}})
    other: dict[str, Any] = {"threads": 4, "dtype": "float32"}
    assert earlier_settings(path, here, is_wanted=True) == {"one": {}}
    assert earlier_settings(path, other, is_wanted=False) == {}
    with pytest.raises(SystemExit, match="threads: 2 there, 4 here"):
        earlier_settings(path, other, is_wanted=True)
