"""A PEFT adapter over a model's weights: `model.adapter`.

Its layers stay beside the weights, as they were trained; merged into them they would round otherwise. The model stays
of its own class, with other layers inside, so that whatever runs the model runs it with its adapter.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from textwrap import shorten
from typing import Any

from hydra_eval.config.schema import ModelConfig
from hydra_eval.errors import UserError, known_names
from hydra_eval.models.source import find_source, mendable

logger = logging.getLogger(__name__)

FIELD = "model.adapter"
LONGEST_REASON = 300
MISSING = "Found missing adapter keys"
"""How a warning of PEFT's begins; such weights are zero or drawn by chance."""


def check_adapter(config: ModelConfig) -> None:
    """UserError for an adapter that is not there or cannot be put over a model; a warning for one of another model."""
    if config.adapter is None:
        return
    if find_spec("peft") is None:
        raise UserError(f"{FIELD}={config.adapter}: needs a package that is not installed: pip install peft.")
    adapter = _adapter_config(config)
    kind = getattr(adapter.peft_type, "value", adapter.peft_type)
    if adapter.is_prompt_learning:
        raise UserError(
            f"{FIELD}={config.adapter}: of kind {kind}, which puts tokens of its own before each prompt. Only adapters "
            "inside a model's layers (LORA and its like) can be evaluated."
        )
    trained_on = adapter.base_model_name_or_path
    if trained_on and _last(trained_on) != _last(config.pretrained or ""):
        logger.warning(
            "%s=%s was trained over %s, and is put over %s.", FIELD, config.adapter, trained_on, config.pretrained
        )


def under_adapter(model: Any, config: ModelConfig) -> Any:
    """The same model with its adapter in place. Raises UserError where the two do not belong together."""
    from peft import PeftModel
    from peft.utils import load_peft_weights

    source = find_source(config.adapter, field=FIELD)
    with warnings.catch_warnings(), mendable(FIELD, config.adapter):
        warnings.simplefilter("ignore", FutureWarning)  # PEFT asks transformers by older names
        warnings.filterwarnings("error", message=MISSING)
        weights = load_peft_weights(source, device="cpu", revision=config.adapter_revision)
        _fit_vocabulary(model, weights)
        try:
            wrapped = PeftModel.from_pretrained(model, source, revision=config.adapter_revision)
        except (RuntimeError, ValueError, UserWarning) as error:
            raise UserError(
                f"{FIELD}={config.adapter}: does not fit {config.pretrained} ({shorten(str(error), LONGEST_REASON)}). "
                "Give the adapter of this model, or the model that it was trained over."
            ) from error
    _warn_of_unused(wrapped, weights, config)
    return wrapped.get_base_model()


def _adapter_config(config: ModelConfig) -> Any:
    from peft import PeftConfig

    source = find_source(config.adapter, field=FIELD)
    with mendable(FIELD, config.adapter):
        return PeftConfig.from_pretrained(source, revision=config.adapter_revision)


def _fit_vocabulary(model: Any, weights: Mapping[str, Any]) -> None:
    """An adapter that was trained with new tokens brings all embeddings; the model makes room for them."""
    embedding = model.get_input_embeddings()
    name = next(name for name, module in model.named_modules() if module is embedding)
    sizes = {len(value) for key, value in weights.items() if key.endswith(f"{name}.weight")}
    if sizes and sizes != {embedding.num_embeddings}:
        model.resize_token_embeddings(sizes.pop(), mean_resizing=False)


def _warn_of_unused(wrapped: Any, weights: Mapping[str, Any], config: ModelConfig) -> None:
    """PEFT drops without a word what it finds no layer for: that of a model with more layers, say."""
    from peft import get_peft_model_state_dict
    from peft.mapping import PEFT_TYPE_TO_PREFIX_MAPPING

    placed = get_peft_model_state_dict(wrapped, save_embedding_layers=False)
    mark = PEFT_TYPE_TO_PREFIX_MAPPING.get(wrapped.active_peft_config.peft_type, "")
    unused = [key for key in weights if mark in key and key not in placed]
    if unused:
        logger.warning(
            "%s=%s: %d of its %d weights have no place in %s, and are left out (%s).",
            *(FIELD, config.adapter, len(unused), len(weights), config.pretrained, known_names(unused, shown=1)),
        )


def _last(name: str) -> str:
    return Path(name.rstrip("/")).name.lower()
