"""Imports task code where it can do no harm: in a process that is thrown away when it dies or hangs."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from multiprocessing.connection import Connection
from pathlib import Path

from ..without_lm_eval import hide_lm_eval

OFFLINE = ("OfflineModeIsEnabled", "LocalEntryNotFoundError", "ConnectionError", "LookupError", "HfHubHTTPError")
"""Types of errors that say: this wants data from the network."""
FROM_THE_HUB = ("Couldn't find a module script", "Couldn't reach", "offline", "on the Hugging Face Hub")
INSTALL = ("pip install", "Please install", "is required", "are required", "needs to be installed")


@dataclass(frozen=True, slots=True)
class Job:
    """The references to one module; `where` is a task's file that has one of them."""

    where: str
    references: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """What became of one reference; no cause: it resolved."""

    reference: str
    cause: str | None
    detail: str = ""


def resolve_all(jobs: Iterable[Job], tasks: Path, *, seconds: float, hidden: bool) -> Iterator[Found]:
    """Every reference of every job, each job within `seconds`; a worker that dies or hangs is replaced by a new one."""
    worker = _Worker(tasks, hidden)
    for job in jobs:
        answer = worker.ask(job, seconds)
        if isinstance(answer, str):
            worker = _Worker(tasks, hidden)
            answer = [Found(reference, answer) for reference in job.references]
        yield from answer
    worker.stop()


class _Worker:
    def __init__(self, tasks: Path, hidden: bool) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, other = context.Pipe()
        self.process = context.Process(target=_serve, args=(other, str(tasks), hidden), daemon=True)
        self.process.start()
        other.close()

    def ask(self, job: Job, seconds: float) -> list[Found] | str:
        """The answers, or why there are none."""
        try:
            self.connection.send(job)
            if not self.connection.poll(seconds):
                self.stop()
                return f"takes longer than {seconds:g} s"
            return list(self.connection.recv())
        except (EOFError, ConnectionError):
            self.process.join()
            return f"ends the process (exit code {self.process.exitcode})"

    def stop(self) -> None:
        self.process.kill()
        self.process.join()


def _serve(connection: Connection, tasks: str, hidden: bool) -> None:
    os.environ |= {"HYDRA_EVAL_TASK_PATH": tasks, "HF_ALLOW_CODE_EVAL": "1"}
    os.environ |= dict.fromkeys(("HF_HUB_OFFLINE", "HF_EVALUATE_OFFLINE"), "1")
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):  # task code may print, or ask
        os.dup2(nothing, stream)
    if hidden:
        hide_lm_eval()
    while True:
        job = connection.recv()
        connection.send([resolved(reference, where=job.where) for reference in job.references])


def resolved(reference: str, *, where: str) -> Found:
    from hydra_eval.config.functions import resolve_callable
    from hydra_eval.errors import UserError

    try:
        resolve_callable(reference, where=where)
    except UserError as error:
        return Found(reference, cause_of(error), str(error))
    return Found(reference, None)


def cause_of(error: BaseException) -> str:
    """Why a reference did not resolve, in few words that are the same for the same reason."""
    if error.__cause__ is None:
        return "the tree: no such file or name"
    chain = list(_chain(error.__cause__))
    causes = (cause for say in (_without_module, _without_hub, _without_name) for link in chain if (cause := say(link)))
    return next(causes, f"other: {type(chain[0]).__name__}: {str(chain[0])[:100]}")


def _without_module(error: BaseException) -> str | None:
    return _missing(error.name) if isinstance(error, ModuleNotFoundError) and error.name else None


def _without_hub(error: BaseException) -> str | None:
    offline = type(error).__name__ in OFFLINE or any(words in str(error) for words in FROM_THE_HUB)
    return "needs the hub" if offline else None


def _without_name(error: BaseException) -> str | None:
    if isinstance(error, ImportError) and str(error).startswith("cannot import name"):
        return f"gone upstream: {str(error).partition(' (')[0].removeprefix('cannot import name ')}"
    return f"package missing: {str(error)[:100]}" if any(words in str(error) for words in INSTALL) else None


def _missing(name: str) -> str:
    package = name.partition(".")[0]
    if name.startswith("lm_eval"):
        return f"lm_eval lacks: {name}"
    return f"package missing: {package}" if find_spec(package) is None else f"gone upstream: {name}"


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
