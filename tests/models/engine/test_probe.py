from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from hydra_eval.models.engine import attention
from hydra_eval.models.engine.probe import find_trunk
from hydra_eval.models.engine.trunk import Trunk
from hydra_eval.models.head import find_logit_slices

from .families import FAMILIES, STRANGERS, build, family


def probed(model: Any) -> Trunk | str:
    return find_trunk(model, find_logit_slices(model))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", FAMILIES)
def test_models_that_can_share_are_found(name: str, dtype: torch.dtype) -> None:
    assert isinstance(probed(build(FAMILIES[name]()).to(dtype)), Trunk)


@pytest.mark.parametrize("name", STRANGERS)
def test_models_that_cannot_say_why(name: str) -> None:
    reason = probed(family(name))
    assert isinstance(reason, str) and len(reason) > 10


def test_a_kernel_without_masks_is_refused() -> None:
    config = FAMILIES["llama"]()
    config._attn_implementation = "flash_attention_2"
    reason = attention.find_sight(SimpleNamespace(config=config))
    assert reason == "attention by flash_attention_2 takes no mask of its own"


def test_masks_that_are_added_do_as_well() -> None:
    model = build(FAMILIES["gemma3"]())
    model.set_attn_implementation("eager")
    assert isinstance(probed(model), Trunk)


@pytest.mark.parametrize("fault", ["sees all before it", "sees no window"])
def test_a_wrong_mask_is_noticed(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    masks = attention.Sight.masks

    def broken(self: attention.Sight, sees: torch.Tensor, distance: torch.Tensor) -> Any:
        if fault == "sees no window":
            return masks(self, sees, torch.zeros_like(distance))
        nodes = torch.ones_like(sees).tril(sees.shape[-1] - sees.shape[-2])
        return masks(self, nodes if sees.shape[-2] > 1 else sees, distance)

    monkeypatch.setattr(attention.Sight, "masks", broken)
    reason = probed(family("gemma3"))
    assert isinstance(reason, str) and reason.startswith("a tree gives other logits")


def test_the_window_is_as_it_was_after_the_probe() -> None:
    model = build(FAMILIES["mistral"]())
    assert isinstance(probed(model), Trunk) and model.config.sliding_window == 6
