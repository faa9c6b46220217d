"""`model.compile`: the forward pass by `torch.compile`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from hydra_eval.config.schema import ModelConfig
from hydra_eval.errors import UserError, did_you_mean, known_names

FIELD = "model.compile"
GRAPHS = "triton.cudagraphs"
"""A replayed CUDA graph writes over what it gave before; keys and values are kept from pass to pass."""


def check_compile(given: Any) -> None:
    """UserError for what is neither a truth value nor a mode of `torch.compile`."""
    if isinstance(given, bool):
        return
    modes = _modes()
    if given not in modes:
        raise UserError(
            f"{FIELD}={given}: not a mode of torch.compile.{did_you_mean(str(given), modes)} Give true, or one of "
            f"{known_names(modes)}."
        )


def compile_forward(model: Any, config: ModelConfig) -> None:
    """Compiles the pass below the head, for sequences of any length. Hooks that come later would go unseen.

    Raises UserError where this machine cannot.
    """
    if config.compile is False:
        return
    mode = "default" if config.compile is True else config.compile
    body = model.base_model
    body.forward = torch.compile(body.forward, dynamic=True, options={**_modes()[mode], GRAPHS: False})
    _try(model, config)


def uncompiled(hook: Callable[..., Any], config: ModelConfig) -> Callable[..., Any]:
    """The same hook, called from compiled code as it is: compiled in, what it counts would be a constant."""
    return torch.compiler.disable(hook) if config.compile else hook  # type: ignore[no-untyped-call]


@torch.inference_mode()
def _try(model: Any, config: ModelConfig) -> None:
    try:
        model.base_model(input_ids=torch.arange(2, 6, device=model.device)[None], use_cache=False)
    except RuntimeError as error:
        reason = next(line for line in (*str(error).splitlines(), type(error).__name__) if line.strip())
        raise UserError(
            f"{FIELD}={config.compile}: this model does not compile here ({reason}). That takes a C++ compiler, and on "
            f"a GPU Triton. Or leave it out: {FIELD}=false."
        ) from error


def _modes() -> dict[str, dict[str, Any]]:
    from torch._inductor import list_mode_options

    return dict(list_mode_options())
