"""Packets to the model, one after the other; while it answers one, the next is turned into ids."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from itertools import chain, pairwise
from typing import Any

from hydra_eval.errors import noted
from hydra_eval.models.base import Model
from hydra_eval.records import Packet, RequestKind, Response


def ask(
    model: Model, packets: Sequence[Packet], advance: Callable[[Packet], None], *, keeps_ids: bool = False
) -> list[Response]:
    """The responses to every request of `packets`. Token ids take more memory than all the rest: kept on request.

    While the model answers one packet, a thread encodes the next, which ends before this returns or raises.
    """
    responses: list[Response] = []
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="encode") as thread:
        coming = chain((thread.submit(model.encode, packet) for packet in packets), [Future[Any]()])
        # A pair holds the packet at hand and the next one, which is under way by then.
        for packet, (encoded, _) in zip(packets, pairwise(coming), strict=True):
            answer = model.generate if packet.kind is RequestKind.GENERATE else model.loglikelihood
            with noted(f"in {place_of(packet)}"):
                found = answer(packet, encoded.result())
            responses += found if keeps_ids else [replace(response, input_ids=()) for response in found]
            advance(packet)
    return responses


def place_of(packet: Packet) -> str:
    """Its task and documents, for messages."""
    docs = sorted({instance.key.doc for instance in packet.instances})
    numbers = f"document {docs[0]}" if len(docs) == 1 else f"{len(docs)} documents from {docs[0]} to {docs[-1]}"
    return f"task '{packet.instances[0].key.task}', {numbers}"
