"""Weights in fewer bits: `model.quantization`, and checkpoints that were saved so."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from transformers.quantizers.auto import AUTO_QUANTIZATION_CONFIG_MAPPING, AutoHfQuantizer, AutoQuantizationConfig

from hydra_eval.config.schema import ModelConfig
from hydra_eval.errors import UserError, did_you_mean, known_names, lookup

FIELD = "model.quantization"
METHOD = "quant_method"
BITSANDBYTES = "bitsandbytes"
LOAD_IN = ("load_in_4bit", "load_in_8bit")
WITHOUT_PACKAGE = (ImportError, ValueError, RuntimeError, NotImplementedError, AssertionError)
"""What transformers raises where a method cannot run here."""


def quantization_config(config: ModelConfig) -> Any:
    """What `from_pretrained` wants; None where nothing is asked for. Raises UserError for an unknown method or key."""
    given = dict(config.quantization)
    if not given:
        return None
    method = _method_of(given)
    if method == BITSANDBYTES:
        given[METHOD] = BITSANDBYTES
    kind = lookup(_methods(), method, kind="quantization method", where=f"{FIELD}.{METHOD}")
    try:
        made = AutoQuantizationConfig.from_dict(given)
    except (AttributeError, TypeError, ValueError, KeyError, AssertionError, ImportError) as error:
        raise UserError(f"{FIELD}: {method} does not take {config.quantization} ({error}).") from error
    _check_keys(given, kind, made)
    return made


def check_quantization(config: ModelConfig, hf_config: Any) -> None:
    """UserError where this machine cannot run the weights as they are asked for or saved, before they are read."""
    saved = getattr(hf_config, "quantization_config", None)
    asked = quantization_config(config)
    if asked is None and saved is None:
        return
    field, value = (FIELD, config.quantization) if asked else ("model.pretrained", config.pretrained)
    try:
        chosen = AutoHfQuantizer.merge_quantization_configs(saved, asked) if saved else asked
        quantizer = AutoHfQuantizer.from_config(chosen, pre_quantized=saved is not None)
        quantizer.validate_environment(device_map=config.device_map, weights_only=True)
    except WITHOUT_PACKAGE as error:
        raise UserError(f"{field}={value}: {_advice(error)}") from error


def _advice(error: Exception) -> str:
    """transformers names the package to install, but where it fails by importing one."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        return f"needs a package that is not installed: pip install {error.name.partition('.')[0]}."
    return " ".join(str(error).split())


def _method_of(given: Mapping[str, Any]) -> str:
    said = given.get(METHOD)
    if any(given.get(name) for name in LOAD_IN):
        if said not in (None, BITSANDBYTES):
            raise UserError(f"{FIELD}: {' and '.join(LOAD_IN)} belong to bitsandbytes, not to {said}. Leave one out.")
        return BITSANDBYTES
    if said == BITSANDBYTES:
        raise UserError(f"{FIELD}.{METHOD}=bitsandbytes: say {' or '.join(f'{name}: true' for name in LOAD_IN)}, too.")
    if said is None:
        near = did_you_mean(next(iter(given)), [METHOD, *LOAD_IN])
        raise UserError(
            f"{FIELD}={dict(given)}: which method?{near} Give {METHOD} ({known_names(_methods())}), or one of "
            f"{', '.join(LOAD_IN)}."
        )
    return str(said)


def _methods() -> dict[str, Any]:
    """bitsandbytes has two entries with one config; a GGUF file is asked for by its name."""
    entries = {name: kind for name, kind in AUTO_QUANTIZATION_CONFIG_MAPPING.items() if name != "gguf"}
    return {name.removesuffix("_4bit").removesuffix("_8bit"): kind for name, kind in entries.items()}


def _check_keys(given: Mapping[str, Any], kind: Any, made: Any) -> None:
    """transformers drops a key that it does not know without a word, and the weights would be others than asked for."""
    named = [name for name in inspect.signature(kind).parameters if name != "kwargs"]
    known = {METHOD, *named, *made.to_dict()}
    for key in given:
        if key not in known:
            raise UserError(f"{FIELD}.{key}: not a field of it.{did_you_mean(key, named)} Known: {known_names(named)}.")
