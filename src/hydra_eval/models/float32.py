"""A loaded model in float32 for a while; afterwards bit for bit as it was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor

from hydra_eval.config.schema import ModelConfig
from hydra_eval.models.kernels import attending_by
from hydra_eval.models.memory import tried

WIDE = torch.float32.itemsize
FLASH = "flash"
"""In the names of kernels that take no float32."""


@contextmanager
def in_float32(model: Any, config: ModelConfig) -> Iterator[str | None]:
    """Yields why the weights stay as they are, where they do; None where they are float32, and nothing is compiled."""
    narrow = [] if (why := _refusal(model, config)) else _narrow(model)
    dtypes = [tensor.dtype for tensor in narrow]
    own_kernel = model.config.get_text_config()._attn_implementation
    with ExitStack() as stack:
        stack.callback(_put_back, narrow, dtypes)
        if narrow and tried(narrow, _widen)[0] is None:
            _put_back(narrow, dtypes)
            why = "float32 takes more memory than there is"
        if config.compile is not False:
            # Compiling costs more than a few requests are worth.
            stack.enter_context(torch.compiler.set_stance("force_eager"))
        if model.dtype is torch.float32 and FLASH in str(own_kernel):
            stack.enter_context(attending_by(model, "sdpa"))
        yield why
    if model.device.type == "cuda":
        # Else the next run of a sweep would find the float32 weights in its own peak.
        torch.cuda.reset_peak_memory_stats(model.device)


def _refusal(model: Any, config: ModelConfig) -> str | None:
    if getattr(model, "is_quantized", False):
        return "quantised weights have no other dtype"
    if config.tp_plan is not None:
        return "each process holds a slice of the weights"
    if any(weight.is_meta for weight in model.parameters()):
        return "part of the weights is not on the device"
    return None


def _narrow(model: Any) -> list[Tensor]:
    """Weights and buffers in less than float32; those that are tied are one."""
    tensors = (*model.parameters(), *model.buffers())
    return [tensor for tensor in tensors if tensor.is_floating_point() and tensor.itemsize < WIDE]


def _widen(tensors: Sequence[Tensor]) -> bool:
    """One by one, in place: at no time are there two copies of all of them."""
    for tensor in tensors:
        tensor.data = tensor.data.float()
    return True


def _put_back(tensors: Sequence[Tensor], dtypes: Sequence[torch.dtype]) -> None:
    for tensor, dtype in zip(tensors, dtypes, strict=True):
        tensor.data = tensor.data.to(dtype)
