"""Where the weights go: one device, several of one process, or slices on all processes of the launch."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import torch

from hydra_eval.config.schema import AUTO, ModelConfig
from hydra_eval.errors import UserError, did_you_mean, known_names
from hydra_eval.models.source import check_device

DEVICE_MAPS = ("auto", "balanced", "balanced_low_0", "sequential")
OFFLOADED = ("cpu", "disk")
HOW = "Start as many processes as there are slices: accelerate launch --multi_gpu --num_processes N run.py …"
HEADS = ("num_attention_heads", "num_key_value_heads")


def placement(config: ModelConfig, device: str) -> dict[str, Any]:
    """Arguments of `from_pretrained`."""
    if config.tp_plan is not None:
        return _slices(config.tp_plan)
    if config.device_map is None:
        return {} if device == "cpu" else {"device_map": {"": device}}
    limits = {} if isinstance(config.device_map, Mapping) else _own_gpus()
    return {"device_map": config.device_map, **limits}


def _own_gpus() -> dict[str, Any]:
    """Of several processes on a machine each spreads its model over GPUs of its own, as far as they are free."""
    processes, rank = int(os.environ.get("LOCAL_WORLD_SIZE", "1")), int(os.environ.get("LOCAL_RANK", "0"))
    gpus = share_of_gpus(torch.cuda.device_count(), processes=processes, rank=rank)
    return {"max_memory": {gpu: torch.cuda.mem_get_info(gpu)[0] for gpu in gpus}} if processes > 1 and gpus else {}


def share_of_gpus(count: int, *, processes: int, rank: int) -> range:
    """Numbers of the GPUs that one of `processes` takes, that of its own rank first."""
    return range(rank, count, processes)


def check_placement(config: ModelConfig, hf_config: Any) -> None:
    """UserError for devices that are not there, and for slices that cannot be cut."""
    _check_device_map(config.device_map)
    if config.tp_plan is not None:
        _check_slices(config, hf_config)


def _slices(plan: str) -> dict[str, Any]:
    from transformers.distributed import DistributedConfig

    known = {field.name for field in fields(DistributedConfig)}
    return {"distributed_config": DistributedConfig(tp_plan=plan)} if "tp_plan" in known else {"tp_plan": plan}


def _check_device_map(given: Any) -> None:
    field = "model.device_map"
    if given is None:
        return
    if isinstance(given, Mapping):
        for module, device in given.items():
            _check_place(f"{field}.{module}", device)
    elif given not in DEVICE_MAPS:
        near = did_you_mean(str(given), DEVICE_MAPS)
        raise UserError(
            f"{field}={given}: not a way to spread weights.{near} Known: {known_names(DEVICE_MAPS)}; or map modules to "
            "devices: {model.embed_tokens: 0, …}. One device alone is model.device."
        )


def _check_place(field: str, device: Any) -> None:
    if device not in OFFLOADED:
        check_device(f"cuda:{device}" if isinstance(device, int) else str(device), field=field)


def _check_slices(config: ModelConfig, hf_config: Any) -> None:
    field, world = f"model.tp_plan={config.tp_plan}", int(os.environ.get("WORLD_SIZE", "1"))
    if config.tp_plan != AUTO:
        raise UserError(f"{field}: must be auto, the plan that comes with the model's architecture.")
    if config.device_map is not None:
        raise UserError(f"{field}: model.device_map spreads the weights in another way. Leave one of them out.")
    if world < 2:
        raise UserError(f"{field}: this is one process, which holds the whole model. {HOW}")
    text = hf_config.get_text_config()
    if not getattr(text, "base_model_tp_plan", None):
        raise UserError(f"{field}: {type(hf_config).__name__} comes without a plan. Take model.device_map=auto.")
    for name in HEADS:
        heads = getattr(text, name, None)
        if heads is not None and heads % world:
            raise UserError(f"{field}: {heads} {name} cannot be cut into {world} equal slices. Start with a divisor.")
