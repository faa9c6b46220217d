"""Packets of requests in one line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from hydra_eval.records import Generation, Instance, InstanceKey, Packet, RequestKind, Response


def scoring_packet(pairs: Iterable[tuple[str, str]]) -> Packet:
    """One log-likelihood request per (context, continuation)."""
    return _packet(
        RequestKind.LOGLIKELIHOOD,
        [
            Instance(key=_key(number), kind=RequestKind.LOGLIKELIHOOD, context=context, continuation=continuation)
            for number, (context, continuation) in enumerate(pairs)
        ],
    )


def rolling_packet(texts: Iterable[str]) -> Packet:
    return _packet(
        RequestKind.ROLLING,
        [
            Instance(key=_key(number), kind=RequestKind.ROLLING, context="", continuation=text)
            for number, text in enumerate(texts)
        ],
    )


def reply_packet(prompts: Iterable[str], generation: Generation, *, repeats: int = 1) -> Packet:
    return _packet(
        RequestKind.GENERATE,
        [
            Instance(key=_key(number, repeat), kind=RequestKind.GENERATE, context=prompt, generation=generation)
            for number, prompt in enumerate(prompts)
            for repeat in range(repeats)
        ],
    )


def reordered(packet: Packet, order: Sequence[int]) -> Packet:
    return replace(packet, instances=tuple(packet.instances[index] for index in order))


def by_key(responses: Iterable[Response]) -> dict[InstanceKey, Response]:
    return {response.key: response for response in responses}


def _key(number: int, repeat: int = 0) -> InstanceKey:
    return InstanceKey("toy", number, 0, repeat)


def _packet(kind: RequestKind, instances: Sequence[Instance]) -> Packet:
    return Packet(index=0, kind=kind, instances=tuple(instances), cost=1)
