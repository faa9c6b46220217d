from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from transformers import GPT2Config

from hydra_eval.models.loading.placement import share_of_gpus

from ..building import load
from .asked import changed_weights, refused, scores

SPLIT = {"model.embed_tokens": "cpu", "model.layers": "cpu", "model.norm": "cpu", "model.rotary_emb": "cpu"}


@pytest.mark.parametrize(
    "fields",
    [
        {"device_map": "auto"},
        {"device_map": {**SPLIT, "lm_head": "cpu"}},
        {"device_map": {**SPLIT, "model.layers": "disk", "lm_head": "cpu"}, "kwargs": {"offload_folder": "OFF"}},
    ],
    ids=["auto", "mapping", "disk"],
)
def test_weights_that_are_spread_score_alike(fields: dict[str, Any], tiny_folder: Path, tmp_path: Path) -> None:
    options = {**fields, **({"kwargs": {"offload_folder": str(tmp_path)}} if "kwargs" in fields else {})}
    spread = load(tiny_folder, **options)
    assert scores(spread) == scores(load(tiny_folder))
    assert spread.facts.engine["prefix_sharing"] is True


@pytest.mark.parametrize(
    ("device_map", "message"),
    [
        ("atuo", "model.device_map=atuo: not a way to spread weights. Did you mean 'auto'"),
        (7, "model.device_map=7: not a way"),
        ({"lm_head": "cpuu"}, "model.device_map.lm_head=cpuu: not a device"),
        ({"lm_head": 99}, "model.device_map.lm_head=cuda:99: this machine has"),
    ],
    ids=str,
)
def test_devices_that_are_not_there(device_map: Any, message: str, tiny_folder: Path) -> None:
    refused(tiny_folder, message, device_map=device_map)


def test_processes_share_the_gpus_out() -> None:
    shares = [list(share_of_gpus(8, processes=3, rank=rank)) for rank in range(3)]
    assert shares == [[0, 3, 6], [1, 4, 7], [2, 5]]


@pytest.mark.parametrize(
    ("fields", "world", "message"),
    [
        ({"tp_plan": "auto"}, 1, "this is one process.*accelerate launch --multi_gpu"),
        ({"tp_plan": "colwise"}, 2, "model.tp_plan=colwise: must be auto"),
        ({"tp_plan": "auto", "device_map": "auto"}, 2, "model.device_map spreads the weights in another way"),
        ({"tp_plan": "auto"}, 3, "4 num_attention_heads cannot be cut into 3 equal slices"),
        ({"tp_plan": "auto"}, 4, "2 num_key_value_heads cannot be cut into 4 equal slices"),
        ({"kwargs": {"tp_plan": "auto"}}, 2, "model.kwargs.tp_plan: say model.tp_plan instead"),
    ],
    ids=["one process", "plan", "device map", "heads", "key-value heads", "kwargs"],
)
def test_slices_that_cannot_be_cut(
    fields: dict[str, Any], world: int, message: str, tiny_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORLD_SIZE", str(world))
    refused(tiny_folder, message, **fields)


def test_an_architecture_without_a_plan(tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    where = changed_weights(tiny_folder, tmp_path, scale=0.1)
    GPT2Config(n_embd=8, n_layer=1, n_head=2).save_pretrained(where)
    refused(where, "GPT2Config comes without a plan", tp_plan="auto")


def test_weights_that_a_checkpoint_lacks_are_told(
    tiny_folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    deeper = changed_weights(tiny_folder, tmp_path, scale=0.1)
    content = (deeper / "config.json").read_text(encoding="utf-8")
    (deeper / "config.json").write_text(content.replace('"num_hidden_layers": 2', '"num_hidden_layers": 3'))
    load(deeper)
    assert "9 weights are not there, and drawn by chance instead (model.layers.2." in caplog.text
