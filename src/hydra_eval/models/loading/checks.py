"""What can be said against the options of loading before any weight is read."""

from __future__ import annotations

from hydra_eval.config.schema import ModelConfig
from hydra_eval.errors import UserError
from hydra_eval.models.loading.adapter import check_adapter
from hydra_eval.models.loading.compilation import check_compile
from hydra_eval.models.loading.delta import check_delta
from hydra_eval.models.loading.placement import check_placement
from hydra_eval.models.loading.quantization import check_quantization
from hydra_eval.models.source import load_hf_config

OWN_OPTIONS = {
    "quantization_config": "quantization",
    "load_in_4bit": "quantization",
    "load_in_8bit": "quantization",
    "device_map": "device_map",
    "tp_plan": "tp_plan",
    "tp_size": "tp_plan",
    "distributed_config": "tp_plan",
    "gguf_file": "gguf_file",
}
"""Argument of `from_pretrained` → the option of ours that says it, and is checked."""
APART = (
    ("adapter", "delta"),
    ("gguf_file", "quantization"),
    ("delta", "quantization"),
    ("gguf_file", "delta"),
)
"""Options that say different things of the same weights."""


def check_loading(config: ModelConfig) -> None:
    """UserError for an option that cannot be honoured, alone or beside another."""
    for name, option in OWN_OPTIONS.items():
        if name in config.kwargs:
            raise UserError(f"model.kwargs.{name}: say model.{option} instead.")
    for one, other in APART:
        if getattr(config, one) and getattr(config, other):
            raise UserError(
                f"model.{one} and model.{other} cannot be put over the same weights. Leave one of them out."
            )
    if config.adapter_revision is not None and config.adapter is None:
        raise UserError(f"model.adapter_revision={config.adapter_revision}: of which adapter? Give model.adapter, too.")
    check_compile(config.compile)
    hf_config = load_hf_config(config)
    check_placement(config, hf_config)
    check_quantization(config, hf_config)
    check_adapter(config)
    check_delta(config, hf_config)
