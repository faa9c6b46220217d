"""Vocabulary logits for chosen positions only, in slices.

A forward pass over 8,192 tokens with a vocabulary of 262,144 would make 8 GiB of logits; only those that score
something are made here, and never more than a slice of them at once.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeAlias

import torch
from torch import Tensor
from transformers import modeling_utils

logger = logging.getLogger(__name__)

LOGITS_PER_SLICE = 2**26
"""256 MiB in float32."""

NO_CACHE: dict[str, Any] = {"use_cache": False}

LogitSlices: TypeAlias = Callable[..., Iterator[Tensor]]
"""`(ids [rows, length], chosen [rows, length], **inputs) -> slices [n, vocabulary]`: row by row, one position after the
other. `inputs` are more of the forward pass's own: masks, positions, a cache."""


def find_logit_slices(model: Any) -> LogitSlices:
    """The leanest way to the model's logits that gives what its own forward pass gives."""
    head = model.get_output_embeddings()
    if head is not None and model.base_model is not model and _head_explains_logits(model, head):
        return partial(_from_head, model, head)
    logger.info("%s: logits by the model's own forward pass, not in slices.", type(model).__name__)
    return partial(_from_forward, model)


def _from_head(model: Any, head: Any, ids: Tensor, chosen: Tensor, **inputs: Any) -> Iterator[Tensor]:
    hidden = model.base_model(input_ids=ids, **NO_CACHE | inputs).last_hidden_state
    rows = hidden[chosen.to(hidden.device)]
    del hidden
    for part in rows.split(max(1, LOGITS_PER_SLICE // head.weight.shape[0])):
        yield _softcapped(head(part), model.config)


def _from_forward(model: Any, ids: Tensor, chosen: Tensor, **inputs: Any) -> Iterator[Tensor]:
    if _keeps_chosen_logits(model):
        yield model(input_ids=ids, logits_to_keep=chosen, **NO_CACHE | inputs).logits
    else:
        logits = model(input_ids=ids, **NO_CACHE | inputs).logits
        yield logits[chosen.to(logits.device)]


def _softcapped(logits: Tensor, config: Any) -> Tensor:
    cap = getattr(config.get_text_config(), "final_logit_softcapping", None)
    return logits if cap is None else torch.tanh(logits / cap) * cap


@torch.inference_mode()
def _head_explains_logits(model: Any, head: Any) -> bool:
    """Whether hidden states, head and soft cap are all there is: some architectures scale their logits, too."""
    ids = torch.arange(1, 9, device=model.device).remainder(head.weight.shape[0])[None]
    chosen = torch.ones_like(ids, dtype=torch.bool)
    own = model(input_ids=ids, use_cache=False).logits[0]
    ours = torch.cat(list(_from_head(model, head, ids, chosen)))
    slack = 8 * torch.finfo(head.weight.dtype if head.weight.is_floating_point() else own.dtype).eps
    return own.shape == ours.shape and torch.allclose(
        own.float(), ours.float(), rtol=slack, atol=slack * float(own.abs().max())
    )


def _keeps_chosen_logits(model: Any) -> bool:
    """Whether `logits_to_keep` takes a mask: it does where one function of transformers serves all its own models."""
    ours = type(model).__module__.startswith("transformers.") and hasattr(modeling_utils, "slice_logits_to_keep")
    return ours and "logits_to_keep" in inspect.signature(model.forward).parameters
