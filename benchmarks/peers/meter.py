"""Counts and times what a model does, in whichever program it is loaded. Needs torch alone."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from pathlib import Path
from typing import Any

import torch

from benchmarks.peers.order import Figures, Order

STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
RESET_PEAK = "5"


class Meter:
    """The figures of one process. Positions are seen by hooks on the embedding and the head of the loaded model."""

    def __init__(self, order: Order) -> None:
        self._on_gpu = torch.device(order.device).type == "cuda"
        self._load_s = self._request_s = self._cpu_s = 0.0
        self._positions = self._row_steps = self._logit_rows = 0
        self._request_peak = self._process_peak = 0
        self._threads = 0
        self._counts = False
        if order.memory is not None and not self._on_gpu:
            resource.setrlimit(resource.RLIMIT_DATA, (order.memory, order.memory))

    @contextmanager
    def loading(self) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self._load_s += time.perf_counter() - start

    def watch(self, model: Any) -> None:
        """Count what it does in the request phase."""
        model.get_input_embeddings().register_forward_hook(self._embedded)
        head = model.get_output_embeddings()
        if head is not None:
            head.register_forward_hook(self._scored)

    @contextmanager
    def requests(self) -> Iterator[None]:
        """The request phase: prompts are there when it begins, and all responses when it ends."""
        self._process_peak = max(self._process_peak, peak_memory())
        self._threads = torch.get_num_threads()
        self._reset_peak()
        self._counts = True
        start, cpu = time.perf_counter(), time.process_time()
        yield
        self._wait()
        self._counts = False
        self._request_s += time.perf_counter() - start
        self._cpu_s += time.process_time() - cpu
        self._process_peak = max(self._process_peak, peak_memory())
        self._request_peak = max(self._request_peak, self._phase_peak())

    def timed(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """A call that is the request phase."""

        @wraps(call)
        def measured(*args: Any, **kwargs: Any) -> Any:
            with self.requests():
                return call(*args, **kwargs)

        return measured

    def figures(self) -> Figures:
        return Figures(
            load_s=self._load_s,
            request_s=self._request_s,
            cpu_s=self._cpu_s,
            request_peak=self._request_peak,
            process_peak=max(self._process_peak, peak_memory()),
            positions=self._positions,
            row_steps=self._row_steps,
            logit_rows=self._logit_rows,
            threads=self._threads,
        )

    def _embedded(self, module: Any, arguments: Any, embedded: Any) -> None:
        if self._counts:
            rows, length = embedded.shape[:-1]
            self._positions += rows * length
            self._row_steps += rows if length == 1 else 0

    def _scored(self, module: Any, arguments: Any, logits: Any) -> None:
        if self._counts:
            self._logit_rows += logits.shape[:-1].numel()

    def _reset_peak(self) -> None:
        self._wait()
        if self._on_gpu:
            torch.cuda.reset_peak_memory_stats()
        else:
            with suppress(OSError):  # only Linux forgets a peak; elsewhere it is that of the whole process
                RESET.write_text(RESET_PEAK, encoding="ascii")

    def _phase_peak(self) -> int:
        return torch.cuda.max_memory_allocated() if self._on_gpu else peak_memory()

    def _wait(self) -> None:
        if self._on_gpu:
            torch.cuda.synchronize()


def peak_memory() -> int:
    """Bytes: the most that this process held, since the peak was last reset where Linux can do that."""
    if STATUS.exists():
        line = next(line for line in STATUS.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
