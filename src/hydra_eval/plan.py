"""Requests are cut into packets before any process is known; packets are then shared out by cost.

The cut is a pure function of the request list and the token budget: the same packets, hence the same forward passes and
the same last bits, on any number of processes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import TypeAlias

from hydra_eval.records import Instance, InstanceKey, Packet, RequestKind

LEAST_PACKETS = 64
"""Packets of a run that has at least as many documents: enough to share out, and little to lose."""
MOST_OF_FEW = 16
"""Documents of a packet where the run has fewer: forward passes are filled first, then processes."""
REPLY_PASSES = 16
"""Of packets of replies, how many forward passes' worth of tokens they may hold, the room for replies among them: rows
that stop make way for others only where there are others."""
MERGED_PASSES = 64
"""The same of packets of replies that are merged: enough for a GPU's rows to stay full."""
BYTES_PER_TOKEN = 4
"""A rough figure for cost estimates only."""

Document: TypeAlias = tuple[Instance, ...]


def plan_packets(instances: Iterable[Instance], *, batch_tokens: int) -> list[Packet]:
    """Whole documents of one task and kind of request, in the order of their prompts' text.

    What begins alike stands side by side, so that it is run once. A packet holds about as many tokens as a forward pass
    may, what all its task's contexts begin with aside; one of replies holds more.
    """
    heaps = _heaps(instances)
    total = sum(cost for heap in heaps for cost in heap.costs)
    documents = sum(len(heap.documents) for heap in heaps)
    share = max(1, math.ceil(total / LEAST_PACKETS)) if documents >= LEAST_PACKETS else total
    # One very long document makes the share large; a count of documents keeps the short ones from one packet.
    most = documents // LEAST_PACKETS or MOST_OF_FEW
    packets: list[Packet] = []
    for heap in heaps:
        room = batch_tokens * (REPLY_PASSES if heap.kind is RequestKind.GENERATE else 1)
        for chunk, cost in heap.chunks(min(share, room), most):
            members = tuple(instance for document in chunk for instance in document)
            packets.append(Packet(index=len(packets), kind=heap.kind, instances=members, cost=cost, prefix=heap.prefix))
    return packets


def share_out(packets: Sequence[Packet], world: int) -> list[list[Packet]]:
    """One list of packets per rank, each packet given to the rank with the least to do so far, longest first."""
    shares: list[list[Packet]] = [[] for _ in range(world)]
    loads = [0] * world
    for packet in sorted(packets, key=lambda packet: (-packet.cost, packet.index)):
        rank = loads.index(min(loads))
        shares[rank].append(packet)
        loads[rank] += packet.cost
    return [_in_turn(share) for share in shares]


def merge(packets: Sequence[Packet], *, batch_tokens: int) -> list[Packet]:
    """Fuller packets of the same requests, longest first: neighbours of one task and kind together.

    For speed alone: what shares a forward pass then hangs on the number of processes, and the last bits with it.
    """
    merged: list[Packet] = []
    for packet in sorted(packets, key=lambda packet: packet.index):
        room = batch_tokens * (MERGED_PASSES if packet.kind is RequestKind.GENERATE else 1)
        if merged and _of_one_heap(merged[-1], packet) and merged[-1].cost + packet.cost <= room:
            both = merged[-1].instances + packet.instances
            merged[-1] = replace(merged[-1], instances=both, cost=merged[-1].cost + packet.cost)
        else:
            merged.append(packet)
    return _in_turn(merged)


def _in_turn(packets: Iterable[Packet]) -> list[Packet]:
    """Longest first, and behind each the others of its prefix: a model keeps only the last few prefixes it has run."""
    by_prefix: dict[str, list[Packet]] = {}
    for packet in sorted(packets, key=lambda packet: (-packet.cost, packet.index)):
        by_prefix.setdefault(packet.prefix, []).append(packet)
    return [packet for together in by_prefix.values() for packet in together]


def _of_one_heap(one: Packet, other: Packet) -> bool:
    return one.kind is other.kind and one.instances[0].key.task == other.instances[0].key.task


def estimated_tokens(text: str) -> int:
    """Tokens of a text, estimated from its length in bytes."""
    return len(text.encode()) // BYTES_PER_TOKEN + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Heap:
    """The documents of one task and kind of request, in the order of their prompts."""

    kind: RequestKind
    prefix: str
    """What the longest context of each document begins with."""
    documents: tuple[Document, ...]
    costs: tuple[int, ...]
    """Of each document, in tokens."""

    def chunks(self, budget: int, most: int) -> Iterable[tuple[list[Document], int]]:
        """Documents in order and their cost, cut where the next would go over `budget` tokens or `most` documents."""
        chunk: list[Document] = []
        spent = 0
        for document, cost in zip(self.documents, self.costs, strict=True):
            if chunk and (spent + cost > budget or len(chunk) == most):
                yield chunk, spent
                chunk, spent = [], 0
            chunk.append(document)
            spent += cost
        if chunk:
            yield chunk, spent


def _heaps(instances: Iterable[Instance]) -> list[Heap]:
    """In the order of kinds and tasks. A document that asks several kinds of requests is in several heaps."""
    found: dict[tuple[str, str], dict[int, list[Instance]]] = {}
    for instance in instances:
        heap = found.setdefault((instance.kind.value, instance.key.task), {})
        heap.setdefault(instance.key.doc, []).append(instance)
    return [_heap(RequestKind(kind), map(tuple, found[kind, task].values())) for kind, task in sorted(found)]


def _heap(kind: RequestKind, documents: Iterable[Document]) -> Heap:
    ordered = sorted(documents, key=_place)
    prefix = _common_start([_longest(document) for document in ordered])
    costs = tuple(_cost(document, prefix) for document in ordered)
    return Heap(kind=kind, prefix=prefix, documents=tuple(ordered), costs=costs)


def _place(document: Document) -> tuple[str, str, InstanceKey]:
    first = document[0]
    return first.context, first.continuation or "", first.key


def _longest(document: Document) -> str:
    """A document may also ask for its choices without any context, or with little of it."""
    return max((instance.context for instance in document), key=len)


def _common_start(texts: Sequence[str]) -> str:
    """What all begin with: what the first and the last in order have in common."""
    pairs = zip(min(texts), max(texts), strict=False)
    return "".join(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _cost(document: Document, prefix: str) -> int:
    """Tokens to run, estimated: each context once beyond the prefix, and what is scored or may be said after it."""
    shared = len(prefix.encode()) // BYTES_PER_TOKEN
    contexts = {instance.context for instance in document}
    scored = {(instance.context, instance.continuation) for instance in document if instance.continuation is not None}
    said = {_reply_identity(one): one.generation.max_new_tokens for one in document if one.generation is not None}
    fresh = sum(estimated_tokens(text) - (shared if text.startswith(prefix) else 0) for text in contexts)
    return fresh + sum(estimated_tokens(text) for _, text in scored) + sum(said.values())


def _reply_identity(instance: Instance) -> tuple[str, int]:
    """Greedy repeats are one reply."""
    sampled = instance.generation is not None and instance.generation.do_sample
    return instance.context, instance.key.repeat if sampled else 0
