"""Token by token: stopping each row by itself, and sampling by identity. Plugs into `transformers.generate`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from transformers import LogitsProcessor, LogitsProcessorList, StoppingCriteria

from hydra_eval.models.replies import contains_any, reach_of


class StopStrings(StoppingCriteria):  # type: ignore[misc]
    """Ends a row once its reply holds a stop string, across token borders.

    Keeps nothing between steps, because a beam search reorders rows.
    """

    def __init__(self, stops: Sequence[str], decode: Callable[[Sequence[int]], str], prompt_length: int) -> None:
        self.stops = stops
        self.decode = decode
        self.prompt_length = prompt_length
        self.tail = reach_of(stops)

    def __call__(self, input_ids: Tensor, scores: Any, **kwargs: Any) -> Tensor:
        replies = input_ids[:, self.prompt_length :][:, -self.tail :].tolist()
        done = [contains_any(self.decode(reply), self.stops) for reply in replies]
        return torch.tensor(done, device=input_ids.device)


class SeededNoise(LogitsProcessor):  # type: ignore[misc]
    """Gumbel noise from one generator per row: the largest noisy score is a draw from the softmax of the scores.

    A row's n-th token takes the n-th draw of its own generator, whatever else is in the batch, on whatever rank.
    `torch.multinomial` would hand one stream of numbers to all rows in turn, so that a reply hung on its neighbours.
    """

    def __init__(self, seeds: Sequence[int], device: torch.device) -> None:
        self.generators = [torch.Generator(device).manual_seed(seed) for seed in seeds]

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        uniform = torch.stack(
            [torch.rand(scores.shape[-1], generator=generator, device=scores.device) for generator in self.generators]
        )
        return scores - torch.log(-torch.log(uniform))


def decode_seeded(
    model: Any,
    input_ids: Tensor,
    *,
    logits_processor: Any,
    generation_config: Any,
    seeds: Sequence[int],
    **prepared: Any,
) -> Any:
    """`custom_generate` for sampled replies: transformers prepares, the noise goes last, the largest score is taken.

    So temperature, top_k, top_p and whatever else the model's generation config asks for are transformers' own.
    """
    noise = SeededNoise(seeds, input_ids.device)
    generation_config.do_sample = False
    return model._sample(
        input_ids,
        logits_processor=LogitsProcessorList([*logits_processor, noise]),
        generation_config=generation_config,
        **prepared,
    )
