"""A way to generate, tried without the weights: what transformers refuses is refused before they are loaded.

The trial model has the tokens and the generation config of the real one, and next to nothing behind them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hydra_eval.errors import UserError
from hydra_eval.models.replies import Manner
from hydra_eval.records import Generation

TOKENS = 2
"""Of each trial's reply: some refuse the first, some the second."""
REFUSALS = (
    *(ValueError, TypeError, AttributeError, IndexError, KeyError),
    *(RuntimeError, ArithmeticError, OSError, ImportError),
)


def trial_model(hf_config: Any, generation_config: Any, tokens: int) -> Any:
    """On the CPU. Sizes are 1 wherever they can be, so that the largest vocabulary takes a few megabytes."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM, T5Config, T5ForConditionalGeneration

    if hf_config.is_encoder_decoder:
        build: Any = T5ForConditionalGeneration
        shape: Any = T5Config(vocab_size=tokens, d_model=2, d_kv=1, d_ff=1, num_layers=1, num_heads=1)
    else:
        sizes = {"hidden_size": 2, "head_dim": 2, "intermediate_size": 1}
        counts = {"num_hidden_layers": 1, "num_attention_heads": 1, "num_key_value_heads": 1}
        build, shape = LlamaForCausalLM, LlamaConfig(vocab_size=tokens, **sizes, **counts)
    with torch.random.fork_rng(devices=[]):
        model = build(shape).eval()
    model.generation_config = generation_config
    return model


def check_trial(model: Any, generation: Generation, eos_ids: tuple[int, ...], *, task: str) -> None:
    """UserError where transformers does not take the options, its own or the model's."""
    import torch
    from transformers import StoppingCriteriaList

    manner = Manner(generation=generation, eos_ids=eos_ids, stops=(), pad_id=0, decode=str)
    prompt = torch.zeros(1, 3, dtype=torch.long)
    behind = 1 if model.config.is_encoder_decoder else prompt.shape[1]

    def is_enough(ids: torch.Tensor, scores: Any, **kwargs: Any) -> torch.Tensor:
        return torch.full((len(ids),), ids.shape[1] >= behind + TOKENS)

    with _refusing(generation, task), _quiet(), torch.random.fork_rng(devices=[]), torch.inference_mode():
        model.generate(
            input_ids=prompt,
            attention_mask=torch.ones_like(prompt),
            stopping_criteria=StoppingCriteriaList([is_enough]),
            **manner.options,
        )


@contextmanager
def _refusing(generation: Generation, task: str) -> Iterator[None]:
    try:
        yield
    except REFUSALS as error:
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
        given = ", ".join(f"{name}={value!r}" for name, value in generation.extra.items())
        raise UserError(
            f"{task}: transformers cannot generate with {given or 'these options'}, put over the model's "
            f"generation_config.json ({type(error).__name__}: {reason}). Change generation.extra, or the task's "
            "generation_kwargs."
        ) from error


@contextmanager
def _quiet() -> Iterator[None]:
    """What transformers warns of comes again with the real model."""
    from transformers.utils import logging

    before = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    finally:
        logging.set_verbosity(before)
