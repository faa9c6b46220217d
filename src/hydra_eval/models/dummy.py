"""A stand-in that answers at once from a hash of the request. For tests of everything but the model."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from functools import lru_cache
from itertools import count
from zlib import crc32

from hydra_eval.config.schema import ModelConfig
from hydra_eval.models.base import ModelFacts, Reference
from hydra_eval.models.efficiency import fresh_counters
from hydra_eval.models.encoding import Encoded, Encoder, encode_requests, encoder_of
from hydra_eval.models.prefixes import fold
from hydra_eval.models.replies import check_reply_room, cut_at_stops
from hydra_eval.records import Generation, Instance, Packet, RequestKind, Response

WORDS = ("A", "B", "C", "D", "yes", "no", "7", "12", "42", "\n", "####", "the", "answer", "is", "river", "lamp")
WINDOW = 2**20
"""Tokens, where the config says nothing: more than any task asks for."""


class WordTokenizer:
    """One token per blank-separated word, identified by its checksum; one for a text of blanks."""

    bos_token, bos_token_id = "<s>", 0
    eos_token, eos_token_id = "</s>", 1
    pad_token, pad_token_id = "</s>", 1
    chat_template = None

    def __call__(self, texts: Sequence[str], **options: object) -> dict[str, list[list[int]]]:
        return {"input_ids": [self.encode(text) for text in texts]}

    def encode(self, text: str, **options: object) -> list[int]:
        words = text.split() or ([text] if text else [])
        return list(map(_word_id, words))

    def decode(self, ids: Sequence[int], **options: object) -> str:
        """Special tokens only: a checksum does not lead back to its word."""
        return "".join({0: self.bos_token, 1: self.eos_token}.get(token, "") for token in ids)


@lru_cache(maxsize=2**16)
def _word_id(word: str) -> int:
    return 2 + crc32(word.encode())


def word_encoder(config: ModelConfig, tokenizer: WordTokenizer) -> Encoder:
    """Takes choices by themselves: one without a blank before it would melt into the last word of its context."""
    encoder = encoder_of(config, tokenizer, config.max_length or WINDOW)
    return replace(encoder, pairs="separate")


def check_room(config: ModelConfig, tokenizer: WordTokenizer, generations: Mapping[str, Generation]) -> None:
    """UserError for a task whose replies leave no room for a prompt."""
    for task, generation in generations.items():
        check_reply_room(generation, task=task, max_length=config.max_length or WINDOW)


class DummyModel:
    """Same request, same answer, on any machine."""

    def __init__(self, config: ModelConfig, tokenizer: WordTokenizer) -> None:
        self.encoder = word_encoder(config, tokenizer)
        self.facts = ModelFacts(
            name=config.name or "dummy",
            source=config.pretrained or "dummy",
            revision=config.revision,
            sha=None,
            parameters=0,
            dtype="none",
            max_length=self.encoder.max_length,
            device="cpu",
            tokens={"eot_token_id": tokenizer.eos_token_id},
        )
        self.efficiency = fresh_counters()

    def encode(self, packet: Packet) -> list[Encoded]:
        return encode_requests(packet.instances, self.encoder)

    def loglikelihood(self, packet: Packet, encoded: list[Encoded] | None = None) -> list[Response]:
        return self._each(packet, encoded or self.encode(packet), self._score)

    def generate(self, packet: Packet, encoded: list[Encoded] | None = None) -> list[Response]:
        return self._each(packet, encoded or self.encode(packet), self._reply)

    @contextmanager
    def one_by_one(self) -> Iterator[Reference]:
        """Nothing is rounded but to Python's floats: the answers are the same."""
        alone = copy(self)
        alone.efficiency = fresh_counters()
        yield Reference(alone, "float64")

    def _each(
        self, packet: Packet, encoded: list[Encoded], respond: Callable[[Instance, Encoded], Response]
    ) -> list[Response]:
        responses = [respond(instance, sent) for instance, sent in zip(packet.instances, encoded, strict=True)]
        spent = self.efficiency[packet.kind.value]
        spent.prefixes.append(fold(span.inputs for sent in encoded for span in sent.spans))
        for response in responses:
            spent.forward_tokens += response.input_tokens + response.output_tokens
            spent.logit_positions += response.output_tokens
            spent.generated_tokens += response.output_tokens if packet.kind is RequestKind.GENERATE else 0
        return responses

    def _score(self, instance: Instance, sent: Encoded) -> Response:
        draws = _draws("score", instance.context, instance.continuation)
        logprobs = tuple(-4 * next(draws) for _ in range(sent.scored))
        rolling, ids = instance.kind is RequestKind.ROLLING, sent.ids
        return Response(
            key=instance.key,
            logprob=sum(logprobs, 0.0),
            token_logprobs=logprobs,
            is_greedy=None if rolling else next(draws) < 0.25,
            input_tokens=len(ids) - len(logprobs),
            output_tokens=len(logprobs),
            cut_tokens=sent.cut_tokens,
            input_ids=ids,
        )

    def _reply(self, instance: Instance, sent: Encoded) -> Response:
        generation = instance.generation
        assert generation is not None
        draws = _draws("reply", instance.context, (generation.seed, instance.key) if generation.do_sample else None)
        wanted = 1 + int(12 * next(draws))
        said = min(wanted, generation.max_new_tokens)
        words = [WORDS[int(len(WORDS) * next(draws))] for _ in range(said)]
        return Response(
            key=instance.key,
            text=cut_at_stops(" ".join(words), [stop for stop in generation.stop if stop]),
            input_tokens=len(sent.ids),
            output_tokens=said,
            cut_tokens=sent.cut_tokens,
            input_ids=sent.ids,
            finish_reason="stop" if said == wanted else "length",
        )


def _draws(*request: object) -> Iterator[float]:
    """Endless numbers in [0, 1) that depend on the request alone."""
    seed = hashlib.sha256(repr(request).encode())
    for step in count():
        draw = seed.copy()
        draw.update(step.to_bytes(4, "big"))
        yield int.from_bytes(draw.digest()[:6], "big") / 2**48
