"""Models by kind. Importing this package imports neither torch nor transformers; loading a model does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hydra_eval.config.schema import AUTO, ModelConfig
from hydra_eval.errors import lookup
from hydra_eval.models.base import Model
from hydra_eval.models.dummy import DummyModel, WordTokenizer, check_room, word_encoder
from hydra_eval.models.encoding import Encoder, encoder_of
from hydra_eval.records import Generation

DUMMY_TOKENS = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """One kind of model: what renders and counts, what checks, and what answers."""

    tokenizer: Callable[[ModelConfig], Any]
    check: Callable[[ModelConfig, Any, Mapping[str, Generation]], None]
    encoder: Callable[[ModelConfig, Any], Encoder]
    batch_tokens: Callable[[ModelConfig, str], int]
    model: Callable[[ModelConfig, str, Any], Model]
    needs_device: bool


def load_tokenizer(config: ModelConfig) -> Any:
    """The tokenizer alone, after every check that needs no weights."""
    return lookup(MODELS, config.kind, kind="model", where="model.kind").tokenizer(config)


def check_generations(config: ModelConfig, tokenizer: Any, generations: Mapping[str, Generation]) -> None:
    """UserError where the model cannot generate as a task asks, by the task's name; before its weights are loaded."""
    lookup(MODELS, config.kind, kind="model", where="model.kind").check(config, tokenizer, generations)


def load_encoder(config: ModelConfig, tokenizer: Any) -> Encoder:
    """What text becomes for this model, and its window; needs no weights."""
    return lookup(MODELS, config.kind, kind="model", where="model.kind").encoder(config, tokenizer)


def batch_tokens(config: ModelConfig, device: str) -> int:
    """Most tokens of one forward pass on `device`; needs no weights."""
    backend = lookup(MODELS, config.kind, kind="model", where="model.kind")
    return int(config.batch_tokens) if config.batch_tokens != AUTO else backend.batch_tokens(config, device)


def needs_device(config: ModelConfig) -> bool:
    """Whether the model computes anything that an accelerator could."""
    return lookup(MODELS, config.kind, kind="model", where="model.kind").needs_device


def is_exact(config: ModelConfig, device: str) -> bool:
    """Whether packets are run as they were planned."""
    return device == "cpu" if config.exact == AUTO else bool(config.exact)


def load_model(config: ModelConfig, device: str, tokenizer: Any) -> Model:
    """The model, on `device` ("cpu", "cuda:0")."""
    return lookup(MODELS, config.kind, kind="model", where="model.kind").model(config, device, tokenizer)


def _hf_tokenizer(config: ModelConfig) -> Any:
    from hydra_eval.models.loading.checks import check_loading
    from hydra_eval.models.source import load_hf_tokenizer

    tokenizer = load_hf_tokenizer(config)
    check_loading(config)
    return tokenizer


def _hf_check(config: ModelConfig, tokenizer: Any, generations: Mapping[str, Generation]) -> None:
    from hydra_eval.models.source import check_hf_generations

    check_hf_generations(config, tokenizer, generations)


def _hf_encoder(config: ModelConfig, tokenizer: Any) -> Encoder:
    from hydra_eval.models.source import find_max_length, load_hf_config

    hf_config = load_hf_config(config)
    max_length = find_max_length(config, hf_config, tokenizer)
    return encoder_of(config, tokenizer, max_length, apart=hf_config.is_encoder_decoder)


def _hf_batch_tokens(config: ModelConfig, device: str) -> int:
    from hydra_eval.models.budget import auto_tokens, device_memory, shape_of
    from hydra_eval.models.source import load_hf_config

    return auto_tokens(shape_of(load_hf_config(config), config.dtype), device_memory(device))


def _hf_model(config: ModelConfig, device: str, tokenizer: Any) -> Model:
    from hydra_eval.models.hf import load_hf_model

    return load_hf_model(config, device, tokenizer)


MODELS: dict[str, Backend] = {
    "dummy": Backend(
        tokenizer=lambda config: WordTokenizer(),
        check=check_room,
        encoder=word_encoder,
        batch_tokens=lambda config, device: DUMMY_TOKENS,
        model=lambda config, device, tokenizer: DummyModel(config, tokenizer),
        needs_device=False,
    ),
    "hf": Backend(
        tokenizer=_hf_tokenizer,
        check=_hf_check,
        encoder=_hf_encoder,
        batch_tokens=_hf_batch_tokens,
        model=_hf_model,
        needs_device=True,
    ),
}
