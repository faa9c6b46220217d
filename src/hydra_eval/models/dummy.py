"""A stand-in that answers at once from a hash of the request. For tests of everything but the model."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from zlib import crc32

from hydra_eval.config.schema import ModelConfig
from hydra_eval.models.base import Efficiency, ModelFacts
from hydra_eval.models.replies import cut_at_stops
from hydra_eval.records import Instance, Packet, RequestKind, Response

WORDS = ("A", "B", "C", "D", "yes", "no", "7", "12", "42", "\n", "####", "the", "answer", "is", "river", "lamp")
WINDOW = 2048
"""Tokens, where the config says nothing."""


class WordTokenizer:
    """One token per blank-separated word, identified by its checksum."""

    bos_token, bos_token_id = "<s>", 0
    eos_token, eos_token_id = "</s>", 1
    pad_token, pad_token_id = "</s>", 1
    chat_template = None

    def __call__(self, texts: Sequence[str], **options: object) -> dict[str, list[list[int]]]:
        return {"input_ids": [self.encode(text) for text in texts]}

    def encode(self, text: str, **options: object) -> list[int]:
        return [2 + crc32(word.encode()) for word in text.split()]

    def decode(self, ids: Sequence[int], **options: object) -> str:
        """Special tokens only: a checksum does not lead back to its word."""
        return "".join({0: self.bos_token, 1: self.eos_token}.get(token, "") for token in ids)


class DummyModel:
    """Same request, same answer, on any machine."""

    def __init__(self, config: ModelConfig, tokenizer: WordTokenizer) -> None:
        self.tokenizer = tokenizer
        self.facts = ModelFacts(
            name=config.name or "dummy",
            source=config.pretrained or "dummy",
            revision=config.revision,
            sha=None,
            parameters=0,
            dtype="none",
            max_length=config.max_length or WINDOW,
            device="cpu",
            tokens={"eot_token_id": tokenizer.eos_token_id},
        )
        self.efficiency = {kind.value: Efficiency() for kind in RequestKind}

    def loglikelihood(self, packet: Packet) -> list[Response]:
        return [self._score(instance) for instance in packet.instances]

    def generate(self, packet: Packet) -> list[Response]:
        return [self._reply(instance) for instance in packet.instances]

    def _score(self, instance: Instance) -> Response:
        draws = _draws("score", instance.context, instance.continuation)
        count = len(self.tokenizer.encode(instance.continuation or ""))
        logprobs = tuple(-4 * next(draws) for _ in range(count))
        rolling = instance.kind is RequestKind.ROLLING
        return Response(
            key=instance.key,
            logprob=sum(logprobs, 0.0),
            token_logprobs=logprobs,
            is_greedy=None if rolling else next(draws) < 0.25,
            input_tokens=self._count(instance, count),
            output_tokens=count,
        )

    def _reply(self, instance: Instance) -> Response:
        generation = instance.generation
        assert generation is not None
        draws = _draws("reply", instance.context, (generation.seed, instance.key) if generation.do_sample else None)
        wanted = 1 + int(12 * next(draws))
        count = min(wanted, generation.max_new_tokens)
        words = [WORDS[int(len(WORDS) * next(draws))] for _ in range(count)]
        text = cut_at_stops(" ".join(words), [stop for stop in generation.stop if stop])
        return Response(
            key=instance.key,
            text=text,
            input_tokens=self._count(instance, count),
            output_tokens=count,
            finish_reason="stop" if count == wanted else "length",
        )

    def _count(self, instance: Instance, count: int) -> int:
        """Counts the request as one forward pass; returns the tokens of its context."""
        spent = self.efficiency[instance.kind.value]
        length = len(self.tokenizer.encode(instance.context))
        spent.forward_tokens += length + count
        spent.logit_positions += count
        spent.generated_tokens += count if instance.kind is RequestKind.GENERATE else 0
        return length


def _draws(*request: object) -> Iterator[float]:
    """Endless numbers in [0, 1) that depend on the request alone."""
    seed = repr(request).encode()
    step = 0
    while True:
        digest = hashlib.sha256(seed + step.to_bytes(4, "big")).digest()
        yield int.from_bytes(digest[:6], "big") / 2**48
        step += 1
