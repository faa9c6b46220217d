"""Replies as token ids and text: options, seeds, where a reply ends, and what is kept of it. No torch."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from hydra_eval.errors import UserError, did_you_mean
from hydra_eval.models.encoding import Ids
from hydra_eval.records import Generation, InstanceKey

OWN_OPTIONS = {
    "max_length": "max_new_tokens",
    "max_new_tokens": "max_new_tokens",
    "do_sample": "do_sample",
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "stop_strings": "stop",
    "num_return_sequences": "n",
}
"""Options of transformers that have a field of ours: option → field."""


REACH_MARGIN = 2
"""More tokens, because some tokenizers drop a blank before the first one they decode."""


class Wanted(NamedTuple):
    """One reply that is to be made."""

    prompt: Ids
    key: InstanceKey
    """Of the first request that wants it."""
    seed: int | None
    """Of its own generator; None: the most likely token each time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How replies are made and what ends them."""

    generation: Generation
    eos_ids: tuple[int, ...]
    stops: tuple[str, ...]
    pad_id: int
    decode: Callable[[Sequence[int]], str]
    """Keeps special tokens."""

    @property
    def options(self) -> dict[str, Any]:
        """For transformers' `generate`. What is left out is the model's own, else transformers' default (top_k 50)."""
        generation = self.generation
        limits = {"top_p": generation.top_p, "top_k": generation.top_k}
        sampling = {name: value for name, value in limits.items() if value is not None}
        return {
            "max_new_tokens": generation.max_new_tokens,
            "eos_token_id": list(self.eos_ids) or None,
            "pad_token_id": self.pad_id,
            "do_sample": generation.do_sample,
            **({"temperature": generation.temperature, **sampling} if generation.do_sample else {}),
            **{name: value for name, value in generation.extra.items() if name != "eos_token_id"},
        }


@dataclass(frozen=True, slots=True)
class Ending:
    """Where a reply ends."""

    tokens: int
    """Generated tokens, the one that ended the reply included."""
    content: int
    """Those whose text is the reply's: an end-of-sequence id is not, even where the tokenizer has text for it."""
    reason: str
    """`stop` or `length`."""


def check_generation(generation: Generation, *, task: str, max_length: int, known: Collection[str]) -> None:
    """UserError for what cannot be run. `known` are the options that transformers has."""
    for name in generation.extra:
        if name in OWN_OPTIONS:
            raise UserError(
                f"{task}: generation option '{name}': give it as generation.{OWN_OPTIONS[name]}, not among the extra."
            )
        if name not in known:
            raise UserError(
                f"{task}: generation option '{name}' is not known to transformers.{did_you_mean(name, known)} "
                "Options are the fields of transformers.GenerationConfig."
            )
    check_reply_room(generation, task=task, max_length=max_length)
    if generation.do_sample and generation.temperature <= 0:
        raise UserError(
            f"{task}: do_sample=true with temperature={generation.temperature}: sampling needs a temperature "
            "above 0. Set generation.temperature, or generation.do_sample=false for greedy replies."
        )
    if generation.do_sample and generation.extra.get("num_beams", 1) != 1:
        raise UserError(f"{task}: sampling does not go with num_beams; set do_sample=false or num_beams=1.")


def check_reply_room(generation: Generation, *, task: str, max_length: int) -> None:
    """UserError where a reply may be as long as the window."""
    if generation.max_new_tokens >= max_length:
        raise UserError(
            f"{task}: a reply of up to {generation.max_new_tokens} tokens leaves no room for a prompt in the model's "
            f"window of {max_length} tokens: lower generation.max_new_tokens, or raise model.max_length if the model "
            "allows it."
        )


def reply_seed(seed: int, key: InstanceKey) -> int:
    """63 bits from the run's seed and the reply's identity: the same on any rank, in any batch, in any order.

    The shots in a cell's name (`gsm8k|5`) do not count: they are there only beside another cell of the same task.
    """
    identity = "\x1f".join(map(str, (seed, key.task.partition("|")[0], *key[1:])))
    return int.from_bytes(hashlib.sha256(identity.encode()).digest()[:8], "big") >> 1


def find_ending(
    ids: Sequence[int], *, eos_ids: Collection[int], stops: Sequence[str], decode: Callable[[Sequence[int]], str]
) -> Ending:
    """The first end-of-sequence id, or the first token that completes a stop string, whichever comes first.

    `ids` may go on after its end: rows of a batch wait for each other. `decode` keeps special tokens.
    """
    eos_at = next((at for at, token in enumerate(ids) if token in eos_ids), None)
    content = ids[:eos_at]
    if contains_any(decode(content), stops):
        # What holds a stop string still does with more tokens, so the shortest such start is found by halving.
        count = bisect_left(range(len(content)), True, key=lambda count: contains_any(decode(content[:count]), stops))
        return Ending(count, count, "stop")
    if eos_at is not None:
        return Ending(eos_at + 1, eos_at, "stop")
    return Ending(len(ids), len(ids), "length")


def reach_of(stops: Collection[str]) -> int:
    """Tokens at the end of a reply among which a stop string must lie whose last token has just come.

    Each token decodes to one byte or more.
    """
    return max((len(stop.encode()) for stop in stops), default=0) + REACH_MARGIN


def contains_any(text: str, stops: Sequence[str]) -> bool:
    return any(stop in text for stop in stops)


def cut_at_stops(text: str, stops: Sequence[str]) -> str:
    """The text before the first occurrence of each stop string in turn, not stripped."""
    for stop in stops:
        text = text.split(stop, maxsplit=1)[0]
    return text


def all_stops(generation: Generation, eos_text: str) -> tuple[str, ...]:
    """The stop strings in their order, then the tokenizer's end-of-sequence as text; no empty ones."""
    return tuple(dict.fromkeys(filter(None, (*generation.stop, eos_text))))
