"""Attention for rows that all stand behind one prefix: its keys and values are read once for all of them.

Registered with transformers, whose attention layers hand it what they hand their own kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from transformers import AttentionInterface

from hydra_eval.models.engine.caches import Pair

KERNEL = "hydra_eval_together"


@dataclass(frozen=True, slots=True)
class Common:
    """What all rows stand behind: its keys and values by layer, [1, groups, prefix, size].

    Not a list: where layers lie on several devices, accelerate would send all of a list to the device of each.
    """

    layers: Sequence[Pair]


def attend_together(  # noqa: PLR0913 - the arguments are those that transformers hands to a kernel
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor,
    *,
    common: Common,
    scaling: float | None = None,
    **kwargs: Any,
) -> tuple[Tensor, None]:
    """([rows, 1, heads, size], no weights) for one new token in every row, taken in float32.

    `query` [rows, heads, 1, size]; `key` and `value` [rows, groups, own, size] are each row's own; `attention_mask`
    [rows, 1, 1, prefix + own] is true where a row sees.
    """
    rows, heads, _, size = query.shape
    groups = key.shape[1]
    scaled = query.float() * (size**-0.5 if scaling is None else scaling)
    queries = scaled.view(rows, groups, heads // groups, size)
    common_keys, common_values = (part[0].float() for part in common.layers[module.layer_idx])
    scores = torch.cat([_all_rows(queries, common_keys.mT), queries @ key.float().mT], dim=-1)
    weights = scores.masked_fill_(~attention_mask, -torch.inf).softmax(dim=-1)
    on_common, on_own = torch.split(weights, [common_keys.shape[-2], key.shape[-2]], dim=-1)
    seen = _all_rows(on_common, common_values) + on_own @ value.float()
    return seen.reshape(rows, 1, heads, -1).to(query.dtype), None


def _all_rows(rows: Tensor, common: Tensor) -> Tensor:
    """`rows` [rows, groups, heads, n] times `common` [groups, n, m], as one product for each group."""
    count, groups, heads, _ = rows.shape
    side_by_side = rows.transpose(0, 1).flatten(1, 2)
    return (side_by_side @ common).view(groups, count, heads, -1).transpose(0, 1)


AttentionInterface.register(KERNEL, attend_together)
