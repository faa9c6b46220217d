"""Replies as token ids and text: options, seeds, where a reply ends, and what is kept of it. No torch."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from hydra_eval.errors import UserError, did_you_mean
from hydra_eval.models.encoding import Ids
from hydra_eval.models.thinking import Decode, Marker, answer_so_far
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
UNHEARD = ("return_dict_in_generate", "output_attentions", "output_hidden_states", "output_logits", "output_scores")
"""They change what `generate` returns, and no reply."""
SPECULATIVE = ("prompt_lookup_num_tokens", "assistant_early_exit")
"""Ways to guess ahead, which transformers knows for one row at a time alone."""

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
    decode: Decode
    """Keeps special tokens."""
    marker: Marker | None = None
    """Ends the reasoning of a reply: no stop string counts before it has come. End-of-sequence ids always do."""
    alone: bool = False
    """No two rows in one call of `generate`."""
    beams: int = 1
    """Rows of a forward pass for each reply."""

    def has_stop(self, reply: Sequence[int]) -> bool:
        """A stop string stands in the reply so far, where it counts."""
        return contains_any(self._searched(reply), self.stops)

    def has_stop_at_end(self, reply: Sequence[int]) -> bool:
        """The same for a reply whose last token has just come, and which had none before: its last tokens tell."""
        return contains_any(self.decode(reply[-reach_of(self.stops) :]), self.stops) and (
            self.marker is None or self.has_stop(reply)
        )

    def _searched(self, reply: Sequence[int]) -> str:
        if self.marker is None:
            return self.decode(reply)
        return answer_so_far(reply, self.marker, self.decode) or ""

    @property
    def options(self) -> dict[str, Any]:
        """For transformers' `generate`. What is left out is the model's own, else transformers' default (top_k 50)."""
        generation = self.generation
        limits = {"temperature": generation.temperature, "top_p": generation.top_p, "top_k": generation.top_k}
        sampling = {name: value for name, value in limits.items() if value is not None}
        return {
            "max_new_tokens": generation.max_new_tokens,
            "eos_token_id": list(self.eos_ids) or None,
            "pad_token_id": self.pad_id,
            "do_sample": generation.do_sample,
            # Ours to say, whatever the model's own config says: replies, stops, and how they are returned.
            "num_return_sequences": 1,
            "stop_strings": None,
            "return_dict_in_generate": False,
            **({"num_beams": 1, **sampling} if generation.do_sample else {}),
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
        if name in UNHEARD:
            raise UserError(f"{task}: generation option '{name}' changes no reply; leave it out.")
        if name not in known:
            raise UserError(
                f"{task}: generation option '{name}' is not known to transformers.{did_you_mean(name, known)} "
                "Options are the fields of transformers.GenerationConfig."
            )
    _check_end_ids(generation.extra.get("eos_token_id"), task)
    check_reply_room(generation, task=task, max_length=max_length)
    if generation.do_sample and generation.temperature is not None and generation.temperature <= 0:
        raise UserError(
            f"{task}: do_sample=true with temperature={generation.temperature}: sampling needs a temperature "
            "above 0. Set generation.temperature, or generation.do_sample=false for greedy replies."
        )
    if generation.do_sample and generation.extra.get("num_beams", 1) != 1:
        raise UserError(f"{task}: sampling does not go with num_beams; set do_sample=false or num_beams=1.")


def _check_end_ids(given: Any, task: str) -> None:
    listed = given if isinstance(given, list | tuple) else [] if given is None else [given]
    if not all(isinstance(token, int) and not isinstance(token, bool) for token in listed):
        raise UserError(
            f"{task}: generation option 'eos_token_id'={given!r}: give a token's id, or a list of ids; texts that end "
            "a reply go into generation.stop."
        )


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


def end_ids(generation: Generation, own: Any, tokenizer: Any) -> tuple[int, ...]:
    """Every id that ends a reply: chat models list several (`own`), of which the tokenizer knows one."""
    given = generation.extra.get("eos_token_id", own)
    listed = given if isinstance(given, list | tuple) else [given]
    return tuple(sorted({token for token in (*listed, tokenizer.eos_token_id) if token is not None}))


def find_ending(ids: Sequence[int], manner: Manner) -> Ending:
    """The first end-of-sequence id, or the first token that completes a stop string, whichever comes first.

    `ids` may go on after its end: rows of a batch wait for each other.
    """
    eos_at = next((at for at, token in enumerate(ids) if token in manner.eos_ids), None)
    content = ids[:eos_at]
    if manner.has_stop(content):
        # What holds a stop string still does with more tokens, so the shortest such start is found by halving.
        count = bisect_left(range(len(content)), True, key=lambda count: manner.has_stop(content[:count]))
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


def all_stops(generation: Generation, eos_text: str, *, own: str | Sequence[str] | None = None) -> tuple[str, ...]:
    """The task's stop strings in their order, the model's own, the tokenizer's end-of-sequence as text; none empty."""
    listed = [own] if isinstance(own, str) else own or []
    return tuple(dict.fromkeys(filter(None, (*generation.stop, *listed, eos_text))))
