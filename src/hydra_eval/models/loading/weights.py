"""The weights of a Hugging Face model, on their device or spread over several."""

from __future__ import annotations

import logging
import os
from typing import Any

import torch

from hydra_eval.config.schema import ModelConfig
from hydra_eval.errors import counted, known_names
from hydra_eval.models.architecture import auto_class
from hydra_eval.models.loading.adapter import under_adapter
from hydra_eval.models.loading.delta import add_delta
from hydra_eval.models.loading.placement import placement
from hydra_eval.models.loading.quantization import quantization_config
from hydra_eval.models.source import find_source, load_hf_config, mendable, own_place, pin_cpu_arithmetic

logger = logging.getLogger(__name__)

SHOWN_WEIGHTS = 4


def load_weights(config: ModelConfig, device: str) -> Any:
    """The model in evaluation mode, on `device` or as its options spread it; what comes over its weights included."""
    pin_cpu_arithmetic()
    if device == "cpu":
        torch.set_num_threads(cpu_threads(config))
    options = {
        "dtype": config.dtype,
        "trust_remote_code": config.trust_remote_code,
        "attn_implementation": config.attn_implementation,
        **placement(config, device),
    }
    if quantised := quantization_config(config):
        options["quantization_config"] = quantised
    auto = auto_class(load_hf_config(config))
    model = _read("model.pretrained", config.pretrained, options | own_place(config) | config.kwargs, auto=auto)
    if config.delta is not None:
        add_delta(model, _read("model.delta", config.delta, options | config.kwargs, auto=auto), config)
    if config.adapter is not None:
        model = under_adapter(model, config)
    return model.eval()


def _read(field: str, name: str | None, options: dict[str, Any], *, auto: Any) -> Any:
    with mendable(field, name):
        source = find_source(name, field=field)
        model, found = auto.from_pretrained(source, output_loading_info=True, **options)
    if missing := found["missing_keys"]:
        logger.warning(
            "%s=%s: %s not there, and drawn by chance instead (%s). Scores mean nothing then.",
            field,
            name,
            counted(len(missing), "weight is", "weights are"),
            known_names(missing, shown=SHOWN_WEIGHTS),
        )
    return model


def cpu_threads(config: ModelConfig) -> int:
    """What the config says, else what the launcher says, else 1: never what the machine has.

    Kernels share out their sums by threads, so the same run must take the same number of them on one process
    (`python run.py`) and on several (launchers set OMP_NUM_THREADS=1).
    """
    said = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
    return config.cpu_threads or (int(said) if said.isdigit() and int(said) > 0 else 1)
