"""The weights of a Hugging Face model, on their device or spread over several."""

from __future__ import annotations

import os
from typing import Any

import torch
from transformers import AutoModelForCausalLM

from hydra_eval.config.schema import ModelConfig
from hydra_eval.models.source import find_source, mendable, pin_cpu_arithmetic


def load_weights(config: ModelConfig, device: str) -> Any:
    """The model in evaluation mode, on `device` or as `device_map` spreads it."""
    pin_cpu_arithmetic()
    if device == "cpu":
        torch.set_num_threads(cpu_threads(config))
    options = {
        "revision": config.revision or "main",
        "subfolder": config.subfolder,
        "dtype": config.dtype,
        "trust_remote_code": config.trust_remote_code,
        "attn_implementation": config.attn_implementation,
        "device_map": config.device_map or (None if device == "cpu" else {"": device}),
    }
    with mendable("model.pretrained", config.pretrained):
        source = find_source(config.pretrained, field="model.pretrained")
        return AutoModelForCausalLM.from_pretrained(source, **options | config.kwargs).eval()


def cpu_threads(config: ModelConfig) -> int:
    """What the config says, else what the launcher says, else 1: never what the machine has.

    Kernels share out their sums by threads, so the same run must take the same number of them on one process
    (`python run.py`) and on several (launchers set OMP_NUM_THREADS=1).
    """
    said = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
    return config.cpu_threads or (int(said) if said.isdigit() and int(said) > 0 else 1)
