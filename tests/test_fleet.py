"""One process, and the words for several; what several processes do is in `test_end_to_end.py`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from hydra_eval.errors import UserError, at_document
from hydra_eval.fleet import Failure, Fleet, JobFailed, describe, leave, named, start_fleet


def alone() -> Fleet:
    return Fleet(rank=0, world=1, device="cpu")


def test_connections_are_closed_before_python_ends() -> None:
    import torch.distributed as dist

    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    for _ in range(2):
        leave()
    assert not dist.is_initialized()


def failure(rank: int, message: str, trace: str | None = None) -> Failure:
    return Failure(rank=rank, message=message, trace=trace)


@pytest.mark.parametrize("to_all", [False, True])
def test_an_exchange_with_oneself(to_all: bool) -> None:
    payload = {"path": Path("x")}
    (back,) = alone().exchange("rows", payload, to_all=to_all)
    assert back is payload


def test_a_stage_that_ends_well() -> None:
    with alone().stage("docs"):
        pass


def test_a_user_error_ends_the_job_with_its_message_and_no_trace() -> None:
    with pytest.raises(JobFailed, match=r"^wrong$") as caught, alone().stage("docs"):
        raise UserError("wrong")
    assert caught.value.trace is None


def test_any_other_error_ends_it_with_type_document_and_trace() -> None:
    with pytest.raises(JobFailed) as caught, alone().stage("docs"), at_document("toy", 7):
        _ = 1 / 0
    place = r"\(.*/test_fleet.py, line \d+\)"
    assert re.fullmatch(
        rf"ZeroDivisionError: division by zero {place} \(in task 'toy', document 7\)", str(caught.value)
    )
    assert "test_fleet.py" in str(caught.value.trace)


def test_an_interrupt_is_not_a_failure_of_the_job() -> None:
    with pytest.raises(KeyboardInterrupt), alone().stage("docs"):
        raise KeyboardInterrupt


def test_a_failure_that_is_brought_along() -> None:
    with pytest.raises(JobFailed, match=r"^no$"):
        alone().exchange("rows", failure=failure(0, "no"))


@pytest.mark.parametrize(
    ("failures", "world", "message"),
    [
        ([failure(0, "no")], 1, "no"),
        ([failure(0, "no"), failure(1, "no")], 2, "no"),
        ([failure(1, "no")], 2, "rank 1: no"),
        ([failure(0, "no"), failure(2, "no")], 3, "rank 0: no\nrank 2: no"),
        ([failure(0, "a"), failure(1, "b")], 2, "rank 0: a\nrank 1: b"),
    ],
    ids=["alone", "all alike", "one of two", "two of three", "each its own"],
)
def test_what_failed_ranks_are_said_to_have_done(failures: list[Failure], world: int, message: str) -> None:
    assert describe(failures, world) == message
    assert str(JobFailed(failures, world)) == message


def test_the_trace_is_the_first_that_there_is() -> None:
    assert JobFailed([failure(0, "a"), failure(1, "b", "trace b"), failure(2, "c", "trace c")], 3).trace == "trace b"


@pytest.mark.parametrize(("rank", "is_main"), [(0, True), (1, False)])
def test_the_first_rank_is_the_main_one(rank: int, is_main: bool) -> None:
    assert Fleet(rank=rank, world=2, device="cpu").is_main is is_main


@pytest.mark.parametrize("world", [None, "1"])
def test_one_process_joins_nothing(monkeypatch: pytest.MonkeyPatch, world: str | None) -> None:
    if world is None:
        monkeypatch.delenv("WORLD_SIZE", raising=False)
    else:
        monkeypatch.setenv("WORLD_SIZE", world)
    fleet = start_fleet()
    fleet.set_timeout(1.0)
    assert (fleet.rank, fleet.world, fleet.is_main) == (0, 1, True)


def test_a_hook_that_exits_fails_the_job_rather_than_ending_the_process_as_if_all_were_well() -> None:
    with pytest.raises(JobFailed, match="SystemExit: 0"), alone().stage("docs"):
        sys.exit(0)


@pytest.mark.parametrize(
    ("device", "name"), [("cpu", "cpu"), ("cpu:0", "cpu"), ("cuda:1", "cuda:1"), ("mps", "mps")], ids=str
)
def test_there_is_one_cpu_whatever_number_it_has(device: str, name: str) -> None:
    assert named(device) == name
