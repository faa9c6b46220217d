"""Rows behind a common prefix: what they see, and what is kept of it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
from accelerate.utils import send_to_device
from transformers.integrations.sdpa_attention import sdpa_attention_forward

from hydra_eval.models.engine.probe import find_trunk
from hydra_eval.models.engine.slots import Slots
from hydra_eval.models.engine.together import KERNEL, Common, attend_together
from hydra_eval.models.engine.tree import plan_trees
from hydra_eval.models.engine.trunk import Trunk
from hydra_eval.models.head import find_logit_slices
from hydra_eval.models.kernels import attending_by

from .families import FAMILIES, build, family, trunk_of

ROWS, HEADS, GROUPS, SIZE, COMMON, OWN = 3, 4, 2, 8, 5, 7


@pytest.mark.parametrize("scaling", [None, 0.25])
def test_rows_get_what_the_usual_kernel_gives(scaling: float | None) -> None:
    torch.manual_seed(0)
    query = torch.randn(ROWS, HEADS, 1, SIZE)
    common = (torch.randn(1, GROUPS, COMMON, SIZE), torch.randn(1, GROUPS, COMMON, SIZE))
    own = (torch.randn(ROWS, GROUPS, OWN, SIZE), torch.randn(ROWS, GROUPS, OWN, SIZE))
    mask = torch.rand(ROWS, 1, 1, COMMON + OWN) < 0.6
    mask[..., -1] = True
    module = SimpleNamespace(layer_idx=1, num_key_value_groups=HEADS // GROUPS, is_causal=True)
    keys, values = (
        torch.cat([before.expand(ROWS, -1, -1, -1), row], dim=2) for before, row in zip(common, own, strict=True)
    )
    expected, _ = sdpa_attention_forward(module, query, keys, values, mask, scaling=scaling)
    found, _ = attend_together(module, query, *own, mask, common=Common([None, common]), scaling=scaling)
    torch.testing.assert_close(found, expected)


def test_what_is_common_stays_on_its_devices() -> None:
    pair = (torch.zeros(1), torch.zeros(1))
    moved, stayed = send_to_device(([pair], Common([pair])), "meta")
    assert (moved[0][0].device.type, stayed.layers[0][0].device.type) == ("meta", "cpu")


@pytest.mark.parametrize("name", FAMILIES)
def test_families_take_their_prefix_apart(name: str) -> None:
    assert trunk_of(family(name)).attends_together


def test_what_is_common_is_kept_once() -> None:
    trunk = trunk_of(family("llama"))
    prefix = trunk.run_prefix((1, 2, 3, 4))
    (tree,) = plan_trees([(1, 2, 3, 4, 5), (1, 2, 3, 4, 6, 7)], start=4, budget=100)
    _, fresh = trunk.logits_and_keys(tree, torch.ones(len(tree), dtype=torch.bool), prefix)
    slots = Slots(trunk, prefix)
    slots.enter(list(tree.paths.values()), prefix, fresh, over=[])
    assert slots.lengths.tolist() == [1, 2]


def test_the_kernel_is_as_it_was_afterwards() -> None:
    model = family("llama")
    with pytest.raises(RuntimeError), attending_by(model, KERNEL):
        assert model.config._attn_implementation == KERNEL
        raise RuntimeError
    assert model.config._attn_implementation == "sdpa"


def test_a_model_whose_layers_are_not_told_of_it_keeps_whole_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    model = build(FAMILIES["llama"]())
    layer = type(model.model.layers[0])
    forward = layer.forward

    def deaf(self: object, *args: object, common: object = None, **kwargs: object) -> object:
        return forward(self, *args, **kwargs)

    monkeypatch.setattr(layer, "forward", deaf)
    trunk = find_trunk(model, find_logit_slices(model))
    assert isinstance(trunk, Trunk) and not trunk.attends_together
