"""Text becomes token ids; token ids become what is run and what is scored.

Semantics: lm-eval 0.4.13, `TemplateLM._encode_pair`, `HFLM.tok_encode`, `get_rolling_token_windows`; for models whose
encoder and decoder stand apart, those of its `backend=seq2seq`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from hydra_eval.config.schema import ModelConfig
from hydra_eval.errors import UserError, counted
from hydra_eval.models.prefixes import path_of
from hydra_eval.records import Instance, Packet, RequestKind

Ids: TypeAlias = tuple[int, ...]
SEAM_TOKENS = 8
"""At the end of a text; the tokens there may change with what follows."""
LEAST_START = 32
"""Tokens that are worth a forward pass of their own."""


class Span(NamedTuple):
    """What is run, and what is scored at its end: the model's last `len(target)` outputs predict `target`.

    Of an encoder-decoder `inputs` go to the encoder, and `target` to the decoder.
    """

    inputs: Ids
    target: Ids


class Encoded(NamedTuple):
    """One request as it is sent: a span, the windows of a rolling one, or a prompt, whose span scores nothing."""

    spans: tuple[Span, ...]
    cut_tokens: int = 0
    room: int = 0
    """Most tokens that the reply may have."""
    apart: bool = False
    """For an encoder-decoder."""

    @property
    def paths(self) -> list[Ids]:
        """All positions to run, a sequence per span, as prefixes are counted."""
        return [path_of(*span, apart=True) if self.apart else span.inputs for span in self.spans]

    @property
    def ids(self) -> Ids:
        """The context's ids, then those that are scored, each once."""
        if not self.spans:
            return ()
        inputs, target = self.spans[0]
        context = inputs if self.apart else _before(inputs, target)
        return context + tuple(token for span in self.spans for token in span.target)

    @property
    def scored(self) -> int:
        """Of `ids`, how many at the end are scored."""
        return sum(len(span.target) for span in self.spans)


class EncodedPacket(NamedTuple):
    """All that a packet's texts become."""

    requests: list[Encoded]
    """One per instance, same order."""
    start: Ids
    """What most of them begin with, where that is worth a pass of its own."""


class Whole(NamedTuple):
    """The ids of one request before any is cut."""

    context: Ids
    target: Ids
    window: int
    """Most ids of both: all that the model holds, less the reply's room; one more where the last is only predicted."""

    @property
    def excess(self) -> int:
        return max(0, len(self.context) + len(self.target) - self.window)

    @property
    def can_be_cut(self) -> bool:
        """A target is never cut, and one id must stand before it."""
        return len(self.target) < self.window


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
    apart: bool = False
    """Contexts go to an encoder and targets to a decoder, each with a window of its own; always tokenised separate."""

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


def encoder_of(config: ModelConfig, tokenizer: Any, max_length: int, *, apart: bool = False) -> Encoder:
    return Encoder(
        tokenizer=tokenizer,
        max_length=max_length,
        prefix_id=find_prefix_id(tokenizer, config.prefix_token_id),
        add_bos=config.add_bos_token,
        pairs=config.pair_tokenization,
        apart=apart,
    )


def encode_packet(packet: Packet, encoder: Encoder) -> EncodedPacket:
    return EncodedPacket(encode_requests(packet.instances, encoder), shared_start(packet.prefix, encoder))


def encode_requests(instances: Sequence[Instance], encoder: Encoder) -> list[Encoded]:
    """What is sent for each request, of whatever kind, cut to the model's window. What a model runs is made here."""
    measured = zip(instances, measure(instances, encoder), strict=True)
    return [_sent(instance, whole, encoder) for instance, whole in measured]


def measure(instances: Sequence[Instance], encoder: Encoder) -> list[Whole]:
    """All ids of each request, and how many of them there may be. Nothing else in the list changes them."""
    wholes = {
        kind: iter(encode([instance for instance in instances if instance.kind is kind], encoder))
        for kind, encode in WHOLES.items()
    }
    return [next(wholes[instance.kind]) for instance in instances]


def encode_pairs(instances: Sequence[Instance], encoder: Encoder) -> list[tuple[Ids, Ids]]:
    """(context ids, continuation ids) of each log-likelihood request.

    Joint: a continuation is what the whole text has beyond the context's own ids, so that it is split where the
    tokenizer splits running text. Separate: the ids of the continuation alone. White space at the end of a context
    belongs to the word after it and moves there, unless the request says otherwise.
    """
    seams = [_seam(instance) for instance in instances]
    split = _split_separately if encoder.apart or encoder.pairs == "separate" else _split_jointly
    pairs = zip(instances, split(instances, seams, encoder), strict=True)
    return [_checked(instance, *(pair if pair[0] else _after_prefix(pair[1], encoder))) for instance, pair in pairs]


def cut_ids(ids: Ids, most: int, side: str) -> Ids:
    """At most `most` ids; left: the last ones, middle: the first half of them and the last, as lm-eval shares them."""
    if len(ids) <= most:
        return ids
    # Of a single id the first is kept, which may be BOS.
    head = 0 if side == "left" else most // 2 or most
    return ids[:head] + ids[len(ids) - (most - head) :]


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


def shared_start(text: str, encoder: Encoder) -> Ids:
    """Ids that all requests of a packet begin with whose contexts begin with `text`; none where they are few.

    The last ones are left out: what follows may be melted into them.
    """
    ids = encoder.encode([text])[text][:-SEAM_TOKENS] if text else ()
    return ids if len(ids) >= LEAST_START else ()


def _seam(instance: Instance) -> tuple[str, str]:
    """Context and continuation, white space between them on the side where it is scored."""
    context, continuation = instance.context, instance.continuation or ""
    bare = context.rstrip() if instance.moves_blanks else context
    return bare, context[len(bare) :] + continuation


def _split_jointly(
    instances: Sequence[Instance], seams: Sequence[tuple[str, str]], encoder: Encoder
) -> list[tuple[Ids, Ids]]:
    ids = encoder.encode(text for head, tail in seams for text in (head, head + tail))
    alone = [not (instance.context and instance.moves_blanks) for instance in instances]
    bare = encoder.encode_bare(tail for (_, tail), is_alone in zip(seams, alone, strict=True) if is_alone)
    pairs = []
    for instance, (head, tail) in zip(instances, seams, strict=True):
        known, whole = ids[head] if instance.context else (), ids[head + tail]
        # Where the seam is not to move, a token across it cannot be scored: the continuation is split by itself.
        crosses = not instance.moves_blanks and whole[: len(known)] != known
        pairs.append((known, bare[tail] if crosses or not instance.context else whole[len(known) :]))
    return pairs


def _split_separately(
    instances: Sequence[Instance], seams: Sequence[tuple[str, str]], encoder: Encoder
) -> list[tuple[Ids, Ids]]:
    """As lighteval's local models do; an end-of-sequence after the context would make a causal model ignore it."""
    heads = encoder.encode(head for instance, (head, _) in zip(instances, seams, strict=True) if instance.context)
    tails = encoder.encode_bare(tail for _, tail in seams)
    eos: tuple[Any, ...] = () if encoder.apart else (getattr(encoder.tokenizer, "eos_token_id", None),)
    known = [heads[head] if instance.context else () for instance, (head, _) in zip(instances, seams, strict=True)]
    return [(ids[:-1] if ids[-1:] == eos else ids, tails[tail]) for ids, (_, tail) in zip(known, seams, strict=True)]


def _after_prefix(scored: Ids, encoder: Encoder) -> tuple[Ids, Ids]:
    """A continuation that begins with the prefix brings its own context."""
    prefix_id = encoder.prefix_id
    if scored[:1] == (prefix_id,):
        return scored[:1], scored[1:]
    return (() if prefix_id is None else (prefix_id,)), scored


def _checked(instance: Instance, context: Ids, target: Ids) -> tuple[Ids, Ids]:
    if not target:
        raise UserError(
            f"{_name(instance)}: the continuation {instance.continuation!r} has no tokens of its own after this "
            "context, so there is nothing to score. Check doc_to_choice or doc_to_target."
        )
    return context, target


def _whole_pairs(instances: Sequence[Instance], encoder: Encoder) -> list[Whole]:
    """The window holds all ids but the last, which is only predicted; of an encoder-decoder either half has one."""
    pairs = zip(instances, encode_pairs(instances, encoder), strict=True)
    return [
        Whole(context or _prefix(encoder, instance), target, _window_beside(target, encoder))
        for instance, (context, target) in pairs
    ]


def _window_beside(target: Ids, encoder: Encoder) -> int:
    if not encoder.apart:
        return encoder.max_length + 1
    # A target that the decoder cannot hold leaves its context no place at all.
    return encoder.max_length + (len(target) if len(target) <= encoder.max_length else 0)


def _whole_prompts(instances: Sequence[Instance], encoder: Encoder) -> list[Whole]:
    """The room is counted for each prompt by itself: what else is in its batch cannot shorten it.

    A reply that a decoder makes takes no room beside its prompt.
    """
    ids = encoder.encode(instance.context for instance in instances)
    rooms = [0 if encoder.apart else _room(instance) for instance in instances]
    return [
        Whole(ids[instance.context] or _prefix(encoder, instance), (), encoder.max_length - room)
        for instance, room in zip(instances, rooms, strict=True)
    ]


def _whole_texts(instances: Sequence[Instance], encoder: Encoder) -> list[Whole]:
    """As long as they are: they run in windows."""
    ids = encoder.encode(instance.continuation or "" for instance in instances)
    texts = [ids[instance.continuation or ""] for instance in instances]
    return [
        Whole(_prefix(encoder, instance), text, len(text) + 1) for instance, text in zip(instances, texts, strict=True)
    ]


WHOLES = {
    RequestKind.LOGLIKELIHOOD: _whole_pairs,
    RequestKind.ROLLING: _whole_texts,
    RequestKind.GENERATE: _whole_prompts,
}
"""Kind of request → what it has to send."""


def _sent(instance: Instance, whole: Whole, encoder: Encoder) -> Encoded:
    context, target, window = whole
    if instance.kind is RequestKind.ROLLING:
        windows = rolling_windows(target, prefix_id=context[0], max_length=encoder.max_length)
        spans = (Span(_before(*span), span.target) if encoder.apart else span for span in windows)
        return Encoded(tuple(spans), apart=encoder.apart)
    if not whole.can_be_cut:
        raise UserError(
            f"{_name(instance)}: the continuation has {counted(len(target), 'token')} and the model's window "
            f"{encoder.max_length}. A continuation cannot be cut: raise model.max_length if the model allows it, or "
            "leave the document out (prompt.overflow=[cut_left,skip])."
        )
    kept = cut_ids(context, window - len(target), instance.cut)
    span = Span((kept + target)[:-1], target) if target and not encoder.apart else Span(kept, target)
    return Encoded((span,), len(context) - len(kept), _room(instance), encoder.apart)


def _before(inputs: Ids, target: Ids) -> Ids:
    """What stands before the target. The last id of a target is predicted and never run."""
    return inputs[: len(inputs) - len(target) + 1] if target else inputs


def _room(instance: Instance) -> int:
    return instance.generation.max_new_tokens if instance.generation else 0


def _prefix(encoder: Encoder, instance: Instance) -> Ids:
    if encoder.prefix_id is None:
        raise UserError(
            f"{_name(instance)}: the context is empty and the tokenizer has neither a beginning-of-sequence nor an "
            "end-of-sequence token to stand for it. Give one with model.prefix_token_id=ID."
        )
    return (encoder.prefix_id,)


def _name(instance: Instance) -> str:
    return f"{instance.key.task}, document {instance.key.doc}, request {instance.key.request}"
