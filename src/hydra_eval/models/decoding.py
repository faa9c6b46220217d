"""Token by token: stopping each row by itself, and sampling by identity. Plugs into `transformers.generate`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from transformers import LogitsProcessor, LogitsProcessorList, StoppingCriteria

from hydra_eval.models.replies import Manner, reach_of


class StopStrings(StoppingCriteria):  # type: ignore[misc]
    """Ends a row once its reply holds a stop string where it counts, across token borders.

    Keeps nothing between steps, because a beam search reorders rows.
    """

    def __init__(self, manner: Manner, prompt_length: int) -> None:
        self.manner = manner
        self.prompt_length = prompt_length

    def __call__(self, input_ids: Tensor, scores: Any, **kwargs: Any) -> Tensor:
        replies = input_ids[:, self.prompt_length :]
        if self.manner.marker is None:
            replies = replies[:, -reach_of(self.manner.stops) :]
        return torch.tensor([self.manner.has_stop_at_end(reply) for reply in replies.tolist()], device=input_ids.device)


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
