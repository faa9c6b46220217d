"""Weights that were published as what is to be added to another model's: `model.delta`."""

from __future__ import annotations

from typing import Any

import torch

from hydra_eval.config.schema import ModelConfig
from hydra_eval.errors import UserError, counted, known_names
from hydra_eval.models.source import find_source, load_config_of

FIELD = "model.delta"
SHAPE = ("model_type", "vocab_size", "hidden_size", "num_hidden_layers")
SHOWN_WEIGHTS = 4


def check_delta(config: ModelConfig, hf_config: Any) -> None:
    """UserError for a delta that is not there, or is of a model of another shape; its weights are not read."""
    if config.delta is None:
        return
    find_source(config.delta, field=FIELD)
    own, added = hf_config.get_text_config(), load_config_of(config.delta, config, field=FIELD).get_text_config()
    for name in SHAPE:
        if (of_delta := getattr(added, name, None)) != (of_model := getattr(own, name, None)):
            raise UserError(
                f"{FIELD}={config.delta}: {name} is {of_delta}, and that of {config.pretrained} is {of_model}. Give a "
                "delta that was made for this model."
            )


@torch.no_grad()
def add_delta(model: Any, delta: Any, config: ModelConfig) -> None:
    """Adds to each weight of the model that of the same name. Weights that are tied are one, and are added to once."""
    added = dict(delta.named_parameters())
    unlike = [name for name, weight in model.named_parameters() if _shape(added.get(name)) != weight.shape]
    if unlike:
        raise UserError(
            f"{FIELD}={config.delta}: {counted(len(unlike), 'weight is', 'weights are')} missing there or of another "
            f"shape than in {config.pretrained}: {known_names(unlike, shown=SHOWN_WEIGHTS)}."
        )
    for name, weight in model.named_parameters():
        weight += added[name].to(weight.device)


def _shape(weight: torch.Tensor | None) -> torch.Size | None:
    return None if weight is None else weight.shape
