"""Whether trees can be run through a model at all, found by running one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from hydra_eval.models.encoding import Ids
from hydra_eval.models.engine.attention import find_sight
from hydra_eval.models.engine.slots import Slots
from hydra_eval.models.engine.tree import plan_trees
from hydra_eval.models.engine.trunk import NO_PREFIX, Trunk
from hydra_eval.models.head import LogitSlices

SEQUENCES = (
    (3, 5, 7, 2, 4, 9, 1),
    (3, 5, 7, 2, 6, 1, 8, 2, 5),
    (3, 5, 7, 9, 9, 4),
    (3, 5, 8, 2),
    (4, 5),
)
"""Sequences on which a tree must give what each gives alone."""
PREFIX = 2
WINDOW = 4
"""Of sliding layers while the model is probed: shorter than the sequences, so that it counts."""
LEAST_SLACK = 1e-4
SLACK_EPS = 16
"""How far a tree's logits may be from those of its sequences alone: root mean square, relative, in rounding units."""
REFUSALS = (
    AssertionError,
    AttributeError,
    IndexError,
    KeyError,
    NotImplementedError,
    RuntimeError,
    TypeError,
    ValueError,
)


def find_trunk(model: Any, logit_slices: LogitSlices) -> Trunk | str:
    """What runs trees through `model`; or the reason why it cannot share what its sequences begin with."""
    sight = find_sight(model)
    if isinstance(sight, str):
        return sight
    reason = None
    # A kernel that adds its masks is the user's choice, and the only one then.
    for together in (False,) if sight.additive else (True, False):
        reason = _refusal(model, logit_slices, together=together)
        if reason is None:
            return Trunk(model, sight, logit_slices, attends_together=together)
    return str(reason)


def _refusal(model: Any, logit_slices: LogitSlices, *, together: bool) -> str | None:
    """Why trees cannot be run like this; None: they can."""
    try:
        with _short_window(model):
            sight = find_sight(model)
            assert not isinstance(sight, str)
            return _drift(Trunk(model, sight, logit_slices, attends_together=together))
    except REFUSALS as error:
        first = next(iter(str(error).splitlines()), "")
        return f"its forward pass refuses a tree ({type(error).__name__}: {first})"


@torch.inference_mode()
def _drift(trunk: Trunk) -> str | None:
    """None where trees give what single sequences give, up to rounding; else by how much they miss."""
    model = trunk.model
    size = model.config.get_text_config().vocab_size
    sequences = sorted({tuple(token % size for token in ids) for ids in SEQUENCES})
    alone = {ids: _alone(trunk, ids) for ids in sequences}
    missed = [*_in_one_tree(trunk, alone), *_behind_a_prefix(trunk, alone), *_step_by_step(trunk, alone, start=0)]
    if trunk.attends_together:
        missed += _step_by_step(trunk, alone, start=PREFIX)
    miss, scale = _mean_size(missed), _mean_size(alone.values())
    slack = max(LEAST_SLACK, SLACK_EPS * torch.finfo(model.dtype).eps)
    if miss <= slack * scale:
        return None
    return f"a tree gives other logits than its sequences alone (by {miss / scale:.1e} of their size)"


def _alone(trunk: Trunk, ids: Ids) -> Tensor:
    return _joined(trunk.logit_slices(trunk.row(ids), torch.ones(1, len(ids), dtype=torch.bool)))


def _in_one_tree(trunk: Trunk, alone: dict[Ids, Tensor]) -> Iterator[Tensor]:
    (tree,) = plan_trees(alone, budget=1000)
    logits = _joined(trunk.logits(tree, torch.ones(len(tree), dtype=torch.bool), NO_PREFIX))
    for ids, path in tree.paths.items():
        yield logits[torch.from_numpy(path)] - alone[ids]


def _behind_a_prefix(trunk: Trunk, alone: dict[Ids, Tensor]) -> Iterator[Tensor]:
    behind = _with_start(alone, length=PREFIX + 1)
    (tree,) = plan_trees(behind, start=PREFIX, budget=1000)
    prefix = trunk.run_prefix(behind[0][:PREFIX])
    logits = _joined(trunk.logits(tree, torch.ones(len(tree), dtype=torch.bool), prefix))
    for ids, path in tree.paths.items():
        yield logits[torch.from_numpy(path)] - alone[ids][PREFIX:]


def _step_by_step(trunk: Trunk, alone: dict[Ids, Tensor], *, start: int) -> Iterator[Tensor]:
    """Rows of several lengths that grow by two tokens each, behind a prefix of `start` tokens."""
    long = _with_start(alone, length=PREFIX + 3) if start else [ids for ids in alone if len(ids) > 3]
    (tree,) = plan_trees([ids[:-2] for ids in long], start=start, budget=1000)
    prefix = trunk.run_prefix(long[0][:start])
    _, fresh = trunk.logits_and_keys(tree, torch.ones(len(tree), dtype=torch.bool), prefix)
    slots = Slots(trunk, prefix)
    slots.enter([tree.paths[ids[:-2]] for ids in long], prefix, fresh, over=[])
    for place in (-2, -1):
        logits = slots.step(slots.lengths.new_tensor([ids[place] for ids in long])).float()
        yield from (logits[row] - alone[ids][place] for row, ids in enumerate(long))


def _with_start(sequences: Iterable[Ids], *, length: int) -> list[Ids]:
    """Those of at least `length` tokens that begin as the first of them does."""
    long = [ids for ids in sequences if len(ids) >= length]
    return [ids for ids in long if ids[:PREFIX] == long[0][:PREFIX]]


@contextmanager
def _short_window(model: Any) -> Iterator[None]:
    """Layers that slide, slide within the probe's few tokens. Masks are made from the config at each pass."""
    config = model.config.get_text_config()
    window = getattr(config, "sliding_window", None)
    if window is None:
        yield
        return
    config.sliding_window = WINDOW
    try:
        yield
    finally:
        config.sliding_window = window


def _joined(slices: Iterator[Tensor]) -> Tensor:
    return torch.cat(list(slices)).float()


def _mean_size(parts: Any) -> float:
    """Root mean square over all numbers of all parts."""
    return float(torch.cat([part.flatten() for part in parts]).pow(2).mean().sqrt())
