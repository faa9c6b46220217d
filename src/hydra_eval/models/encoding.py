"""Text becomes token ids; token ids become what is run and what is scored.

Semantics: lm-eval 0.4.13, `TemplateLM._encode_pair`, `HFLM.tok_encode`, `get_rolling_token_windows`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from hydra_eval.config.schema import ModelConfig
from hydra_eval.errors import UserError
from hydra_eval.records import Instance, Packet, RequestKind

Ids: TypeAlias = tuple[int, ...]


class Span(NamedTuple):
    """What is run, and what is scored at its end: the model's last `len(target)` outputs predict `target`."""

    inputs: Ids
    target: Ids


class Encoded(NamedTuple):
    """One log-likelihood request: a span, or the windows of a rolling one."""

    spans: tuple[Span, ...]
    cut_tokens: int = 0


class Prompt(NamedTuple):
    """The ids that a reply is generated from."""

    ids: Ids
    cut_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoder:
    """A tokenizer with the model's rules for special tokens and length."""

    tokenizer: Any
    max_length: int
    prefix_id: int | None
    """Stands for an empty context."""
    add_bos: bool | None = None
    """None: the tokenizer adds the special tokens that it adds by itself."""
    pairs: str = "joint"
    """Context and continuation are tokenised joint or separate."""

    def encode(self, texts: Iterable[str]) -> dict[str, Ids]:
        """Ids of each distinct text. One that already starts with BOS, as chat templates write it, gets no second."""
        openings = tuple(filter(None, (self._prefix_text(), getattr(self.tokenizer, "bos_token", None))))
        special = {text: False if text.startswith(openings) else self.add_bos for text in texts}
        ids: dict[str, Ids] = {}
        for choice in (None, True, False):
            ids |= self._tokenize([text for text, added in special.items() if added is choice], special=choice)
        return ids

    def encode_bare(self, texts: Iterable[str]) -> dict[str, Ids]:
        """Ids of each distinct text without special tokens."""
        return self._tokenize(list(dict.fromkeys(texts)), special=False)

    def _prefix_text(self) -> str:
        return "" if self.prefix_id is None else str(self.tokenizer.decode([self.prefix_id]))

    def _tokenize(self, texts: list[str], *, special: bool | None) -> dict[str, Ids]:
        if not texts:
            return {}
        options = {} if special is None else {"add_special_tokens": special}
        # One call for all of them: fast tokenizers then use every core. `verbose` would warn of long texts.
        encoded = self.tokenizer(texts, verbose=False, **options)["input_ids"]
        return {text: tuple(ids) for text, ids in zip(texts, encoded, strict=True)}


def find_prefix_id(tokenizer: Any, given: int | None) -> int | None:
    """The id that stands for an empty context: as given, else beginning-of-sequence, else end-of-sequence."""
    for prefix_id in (given, tokenizer.bos_token_id, tokenizer.eos_token_id):
        if prefix_id is not None:
            return int(prefix_id)
    return None


def encoder_of(config: ModelConfig, tokenizer: Any, max_length: int) -> Encoder:
    return Encoder(
        tokenizer=tokenizer,
        max_length=max_length,
        prefix_id=find_prefix_id(tokenizer, config.prefix_token_id),
        add_bos=config.add_bos_token,
        pairs=config.pair_tokenization,
    )


def encode_scored(packet: Packet, encoder: Encoder) -> list[Encoded]:
    """The spans of each log-likelihood request of a packet, in its order."""
    if packet.kind is RequestKind.ROLLING:
        return [_windows(instance, encoder, ids) for instance, ids in _texts(packet, encoder)]
    pairs = encode_pairs(encoder, [(instance.context, instance.continuation or "") for instance in packet.instances])
    return [_fit(instance, *pair, encoder) for instance, pair in zip(packet.instances, pairs, strict=True)]


def encode_prompts(instances: Sequence[Instance], encoder: Encoder, room: int) -> list[Prompt]:
    """Prompt ids, cut on the left so that `room` tokens of reply still fit into the window.

    The room is counted for each prompt by itself: what else is in its batch cannot shorten it.
    """
    ids = encoder.encode(instance.context for instance in instances)
    longest = encoder.max_length - room
    whole = [ids[instance.context] or _prefix(encoder, instance) for instance in instances]
    return [Prompt(prompt[-longest:], max(0, len(prompt) - longest)) for prompt in whole]


def encode_pairs(encoder: Encoder, pairs: Sequence[tuple[str, str]]) -> list[tuple[Ids, Ids]]:
    """(context ids, continuation ids) of each (context, continuation).

    A continuation is what the whole text has beyond the context's own ids, so that it is split where the tokenizer
    splits running text. White space at the end of a context belongs to the word after it and moves there.
    """
    moved = [_move_blanks(context, continuation) for context, continuation in pairs]
    ids = encoder.encode(text for context, rest in moved for text in (context, context + rest))
    bare = encoder.encode_bare(continuation for context, continuation in pairs if not context)
    encoded = []
    for (context, continuation), (head, tail) in zip(pairs, moved, strict=True):
        known = ids[head] if context else ()
        scored = ids[head + tail][len(known) :] if context else bare[continuation]
        encoded.append((known, scored) if known else _after_prefix(scored, encoder.prefix_id))
    return encoded


def rolling_windows(ids: Sequence[int], *, prefix_id: int, max_length: int) -> list[Span]:
    """Windows that score every id once: at most `max_length` new ids each, with as much text before them as fits.

    The first id is predicted from the prefix alone.
    """
    text = (prefix_id, *ids)  # text[i + 1] is predicted at input position i
    spans = []
    for start in range(0, len(ids), max_length):
        end = min(start + max_length, len(ids))
        spans.append(Span(text[max(0, end - max_length) : end], text[start + 1 : end + 1]))
    return spans


def _move_blanks(context: str, continuation: str) -> tuple[str, str]:
    bare = context.rstrip()
    return bare, context[len(bare) :] + continuation


def _after_prefix(scored: Ids, prefix_id: int | None) -> tuple[Ids, Ids]:
    """A continuation that begins with the prefix brings its own context."""
    if scored[:1] == (prefix_id,):
        return scored[:1], scored[1:]
    return (() if prefix_id is None else (prefix_id,)), scored


def _fit(instance: Instance, context: Ids, target: Ids, encoder: Encoder) -> Encoded:
    """Cut the context on the left: the window holds all ids but the last, which is only predicted."""
    if not target:
        raise UserError(
            f"{_name(instance)}: the continuation {instance.continuation!r} has no tokens of its own after this "
            "context, so there is nothing to score. Check doc_to_choice or doc_to_target."
        )
    if len(target) > encoder.max_length:
        raise UserError(
            f"{_name(instance)}: the continuation has {len(target)} tokens and the model's window {encoder.max_length}."
            " A continuation cannot be cut: raise model.max_length if the model allows it, or leave the document out."
        )
    whole = (context or _prefix(encoder, instance)) + target
    return Encoded((Span(whole[-(encoder.max_length + 1) : -1], target),), max(0, len(whole) - encoder.max_length - 1))


def _texts(packet: Packet, encoder: Encoder) -> list[tuple[Instance, Ids]]:
    ids = encoder.encode(instance.continuation or "" for instance in packet.instances)
    return [(instance, ids[instance.continuation or ""]) for instance in packet.instances]


def _windows(instance: Instance, encoder: Encoder, ids: Ids) -> Encoded:
    prefix = _prefix(encoder, instance)
    return Encoded(tuple(rolling_windows(ids, prefix_id=prefix[0], max_length=encoder.max_length)))


def _prefix(encoder: Encoder, instance: Instance) -> Ids:
    if encoder.prefix_id is None:
        raise UserError(
            f"{_name(instance)}: the context is empty and the tokenizer has neither a beginning-of-sequence nor an "
            "end-of-sequence token to stand for it. Give one with model.prefix_token_id=ID."
        )
    return (encoder.prefix_id,)


def _name(instance: Instance) -> str:
    return f"{instance.key.task}, document {instance.key.doc}, request {instance.key.request}"
