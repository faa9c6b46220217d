"""The processes of one launch. Only this file exchanges anything between them."""

from __future__ import annotations

import atexit
import logging
import os
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from hydra_eval.errors import UserError, line_of

log = logging.getLogger(__name__)


LAUNCHER_VARIABLES = ("RANK", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")
JOIN_MINUTES = 10
HOW = "Start with 'accelerate launch --multi_gpu --num_processes N' (also without GPUs), or with torchrun."


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a rank could not go on."""

    rank: int
    message: str
    trace: str | None
    """None for what the user can mend."""


class JobFailed(Exception):
    """One job ended on every rank, because at least one of them failed."""

    def __init__(self, failures: list[Failure], world: int) -> None:
        self.failures = failures
        super().__init__(describe(failures, world))

    @property
    def trace(self) -> str | None:
        return next((failure.trace for failure in self.failures if failure.trace), None)


@dataclass(frozen=True, slots=True)
class _Message:
    """What one rank says at an exchange; all ranks must be at the same place."""

    job: int
    stage: str
    failure: Failure | None


class Fleet:
    """This process among the others of the launch."""

    def __init__(self, *, rank: int, world: int, device: str) -> None:
        self.rank = rank
        self.world = world
        self.device = device
        self.job = 0
        self._group: Any = None
        self._hours: float | None = None

    @property
    def is_main(self) -> bool:
        return self.rank == 0

    @property
    def node_leader(self) -> int:
        """The rank of the first process on this machine: launchers number a machine's processes one after the other."""
        return self.rank - int(os.environ.get("LOCAL_RANK", "0")) if self.world > 1 else self.rank

    def set_timeout(self, hours: float) -> None:
        """How long an exchange waits for the slowest rank. A sweep's jobs share one group while this stays the same."""
        if self.world > 1 and hours != self._hours:
            import torch.distributed as dist

            self._group = dist.new_group(backend="gloo", timeout=timedelta(hours=hours))
            self._hours = hours

    def exchange(self, stage: str, payload: Any = None, *, failure: Failure | None = None, to_all: bool = False) -> Any:
        """Every rank's payload, by rank: on the main process, or on all of them with `to_all`; else an empty list.

        Raises JobFailed on every rank where any rank brings a failure, and RuntimeError where ranks are not at the same
        job and stage. Objects travel pickled through host memory.
        """
        message = _Message(self.job, stage, failure)
        if self.world == 1:
            self._check([message])
            return [payload]
        import torch.distributed as dist

        messages: list[Any] = [None] * self.world
        dist.all_gather_object(messages, message, group=self._group)
        self._check(messages)
        payloads: list[Any] = [None] * self.world
        if to_all:
            dist.all_gather_object(payloads, payload, group=self._group)
        else:
            dist.gather_object(payload, payloads if self.is_main else None, dst=0, group=self._group)
        return payloads if self.is_main or to_all else []

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Work that every rank does; it ends on all of them with JobFailed if it fails on any."""
        failure: Failure | None = None
        try:
            yield
        except UserError as error:
            failure = Failure(rank=self.rank, message=str(error), trace=None)
        except (Exception, SystemExit) as error:  # noqa: BLE001  # sent to all ranks, which raise JobFailed below
            notes = "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
            message = f"{type(error).__name__}: {error} ({line_of(error)}){notes}"
            failure = Failure(rank=self.rank, message=message, trace=traceback.format_exc())
        self.exchange(name, failure=failure)

    def _check(self, messages: list[_Message]) -> None:
        places = {(message.job, message.stage) for message in messages}
        if len(places) > 1:
            raise RuntimeError(f"The ranks are out of step: {sorted(places)}. This is a fault of hydra-eval.")
        failures = [message.failure for message in messages if message.failure]
        if failures:
            raise JobFailed(failures, self.world)


def describe(failures: list[Failure], world: int) -> str:
    """One message for all ranks: the common one where all failed alike, else each with its rank."""
    messages = {failure.message for failure in failures}
    if len(messages) == 1 and len(failures) == world:
        return failures[0].message
    return "\n".join(f"rank {failure.rank}: {failure.message}" for failure in failures)


def start_fleet() -> Fleet:
    """Join the launch that started this process. torch is imported only where there are several processes.

    Raises UserError where the processes that the launcher promised do not come together.
    """
    promised = int(os.environ.get("WORLD_SIZE", "1"))
    if promised == 1:
        return Fleet(rank=0, world=1, device="")
    missing = [name for name in LAUNCHER_VARIABLES if name not in os.environ]
    if missing:
        raise UserError(f"WORLD_SIZE={promised} promises {promised} processes, but {', '.join(missing)} unset. {HOW}")
    import torch
    import torch.distributed as dist
    from accelerate import Accelerator, InitProcessGroupKwargs

    joining = InitProcessGroupKwargs(timeout=timedelta(minutes=JOIN_MINUTES))
    try:
        accelerator = Accelerator(cpu=not torch.cuda.is_available(), kwargs_handlers=[joining])
    except dist.DistError as error:
        raise UserError(
            f"Not all {promised} processes (WORLD_SIZE) came within {JOIN_MINUTES} minutes. {HOW}"
        ) from error
    atexit.register(leave)
    if accelerator.num_processes != promised:
        raise UserError(f"WORLD_SIZE promises {promised} processes, but {accelerator.num_processes} joined. {HOW}")
    return Fleet(rank=accelerator.process_index, world=accelerator.num_processes, device=named(accelerator.device))


def leave() -> None:
    """Connections that are still open when Python's own end comes may abort the process, after all its work."""
    import torch.distributed as dist

    if dist.is_initialized():
        dist.destroy_process_group()


def default_device() -> str:
    """The device of a run of one process."""
    from accelerate import Accelerator

    return named(Accelerator().device)


def named(device: object) -> str:
    """A device as the rest of the program knows it. There is one CPU, though Accelerate numbers it in some launches."""
    name = str(device)
    return "cpu" if name.partition(":")[0] == "cpu" else name
