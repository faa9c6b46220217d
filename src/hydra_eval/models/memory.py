"""What is done when memory runs out, and how much was used."""

from __future__ import annotations

import gc
import logging
import resource
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import torch

from hydra_eval.errors import UserError

logger = logging.getLogger(__name__)

Item = TypeVar("Item")
Found = TypeVar("Found")
CPU_MESSAGES = ("can't allocate memory", "not enough memory")


def in_halves(items: Sequence[Item], run: Callable[[Sequence[Item]], Found]) -> Iterator[tuple[Found, int]]:
    """What `run` finds for all items, or for their halves where memory runs out, and how often they were halved.

    The halves depend on the items alone. Raises UserError where a single item is too much.
    """
    found, failure = _tried(items, run)
    if found is not None:
        yield found, 0
        return
    if len(items) == 1:
        raise UserError(
            f"Out of memory with a single request in a forward pass ({failure}). Lower model.batch_tokens, "
            "model.batch_size or model.max_length, or load the model in a smaller dtype."
        )
    logger.warning("Out of memory: a packet of %d rows is run again in two halves. (%s)", len(items), failure)
    _give_back()
    middle = (len(items) + 1) // 2
    for half in (items[:middle], items[middle:]):
        yield from ((part, halvings + 1) for part, halvings in in_halves(half, run))


def _tried(items: Sequence[Item], run: Callable[[Sequence[Item]], Found]) -> tuple[Found | None, str]:
    """(what was found, or None where memory ran out; what was said then). The error goes, and with it all it holds."""
    try:
        return run(items), ""
    except (RuntimeError, MemoryError) as error:
        message = next(iter(str(error).splitlines()), type(error).__name__)
        if not isinstance(error, torch.OutOfMemoryError | MemoryError) and not _is_of_cpu(message):
            raise
        return None, message


def _is_of_cpu(message: str) -> bool:
    return any(part in message for part in CPU_MESSAGES)


def _give_back() -> None:
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def peak_memory(device: torch.device) -> int:
    """Bytes: on a GPU the most that tensors took there so far, else the most that the process had."""
    if device.type == "cuda":
        return int(torch.cuda.max_memory_allocated(device))
    # Linux counts in kilobytes, macOS in bytes.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
