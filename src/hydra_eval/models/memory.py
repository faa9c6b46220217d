"""What is done when memory runs out, and how much was used."""

from __future__ import annotations

import gc
import logging
import resource
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

import torch

from hydra_eval.errors import OutOfMemory, UserError
from hydra_eval.records import InstanceKey

logger = logging.getLogger(__name__)

T = TypeVar("T")
Found = TypeVar("Found")
MESSAGES = ("out of memory", "allocate memory", "not enough memory", "alloc_failed")
"""In errors of no type of their own: of the CPU's allocator, of a driver, of a library of kernels."""


class Keyed(Protocol):
    """Something that is asked of the model."""

    @property
    def key(self) -> InstanceKey:
        """Of the first request that asks it."""
        ...


Item = TypeVar("Item", bound=Keyed)


def in_halves(
    items: Sequence[Item], run: Callable[[Sequence[Item]], Found], forget: Callable[[], None]
) -> Iterator[tuple[Found, int]]:
    """What `run` finds for all items, or for their halves where memory runs out, and how often they were halved.

    The halves depend on the items alone. `forget` drops what is kept from packet to packet. Raises OutOfMemory where a
    single item is too much.
    """
    found, failure = tried(items, run)
    if found is None:
        forget()
        _give_back()
    if found is None and len(items) == 1:
        # Now with all the memory that there is.
        found, failure = tried(items, run)
    if found is not None:
        yield found, 0
        return
    if len(items) == 1:
        key = items[0].key
        raise OutOfMemory(
            f"Task '{key.task}', document {key.doc}, request {key.request}: out of memory with this request alone in a "
            f"forward pass ({failure}). Lower model.max_length, or load the model in a smaller dtype or spread over "
            "several devices (model.device_map=auto)."
        )
    logger.warning("Out of memory: a packet of %d rows is run again in two halves. (%s)", len(items), failure)
    middle = (len(items) + 1) // 2
    for half in (items[:middle], items[middle:]):
        yield from ((part, halvings + 1) for part, halvings in in_halves(half, run, forget))


def in_one(
    items: Sequence[Item], run: Callable[[Sequence[Item]], Found], forget: Callable[[], None]
) -> Iterator[tuple[Found, int]]:
    """What `run` finds for all items. Processes that hold slices of one model cannot be halved one by one."""
    found, failure = tried(items, run)
    if found is None:
        forget()
        message = f"Out of memory on a device that holds a slice of the model ({failure}). Lower model.batch_tokens."
        # The other processes may still wait for this one, and the error with them.
        logger.error("%s", message)
        raise UserError(message)
    yield found, 0


def tried(items: Sequence[T], run: Callable[[Sequence[T]], Found]) -> tuple[Found | None, str]:
    """(what was found, or None where memory ran out; what was said then). The error goes, and with it all it holds."""
    try:
        return run(items), ""
    except (RuntimeError, MemoryError) as error:
        message = next(iter(str(error).splitlines()), type(error).__name__)
        if not isinstance(error, torch.OutOfMemoryError | MemoryError) and not _is_of_memory(message):
            raise
        return None, message


def _is_of_memory(message: str) -> bool:
    return any(part in message.lower() for part in MESSAGES)


def _give_back() -> None:
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def peak_memory(device: torch.device) -> int:
    """Bytes: on GPUs the most that this process' tensors took on each so far, else the most that the process had."""
    if device.type == "cuda":
        # A model may be spread over several; those that are not used count nothing.
        return sum(int(torch.cuda.max_memory_allocated(gpu)) for gpu in range(torch.cuda.device_count()))
    # Linux counts in kilobytes, macOS in bytes.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
