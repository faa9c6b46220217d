"""How a model was loaded, as a results file says it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hydra_eval.config.schema import ModelConfig
from hydra_eval.hub import cached_commit


def loading_facts(model: Any, config: ModelConfig) -> dict[str, Any]:
    """What changes the scores of a checkpoint, or how fast they come: what was asked for, and what came of it."""
    quantised = getattr(model.config, "quantization_config", None)
    return {
        "dtype": str(model.dtype).removeprefix("torch."),
        "softmax_dtype": config.softmax_dtype,
        "attention": getattr(model.config.get_text_config(), "_attn_implementation", None),
        "quantization": quantised if quantised is None or isinstance(quantised, dict) else quantised.to_dict(),
        "gguf_file": config.gguf_file,
        "adapter": config.adapter,
        "adapter_revision": config.adapter_revision,
        "adapter_sha": _commit(config.adapter, "adapter_config.json", config.adapter_revision),
        "delta": config.delta,
        "delta_sha": _commit(config.delta, "config.json"),
        "compile": config.compile,
        "tensor_parallel": 1 if config.tp_plan is None else int(os.environ.get("WORLD_SIZE", "1")),
        "device_map": {name: str(place) for name, place in getattr(model, "hf_device_map", {}).items()} or None,
    }


def _commit(name: str | None, file: str, revision: str | None = None) -> str | None:
    """A folder has none."""
    return None if name is None or Path(name).expanduser().is_dir() else cached_commit(name, file, revision)
