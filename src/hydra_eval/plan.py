"""Requests are cut into packets before any process is known; packets are then shared out by cost.

The cut is a pure function of the request list and the token budget: the same packets, hence the same batches and the
same last bits, on any number of processes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import groupby

from hydra_eval.records import Instance, Packet, RequestKind

LEAST_PACKETS = 64
"""Packets of a run that has at least as many documents: enough to share out, and little to lose."""
BYTES_PER_TOKEN = 4
"""A rough figure for cost estimates only."""


def plan_packets(instances: Iterable[Instance], *, batch_tokens: int) -> list[Packet]:
    """Whole documents, of one kind of request, longest first, about as many tokens each as a forward pass may hold.

    The order is by length so that what runs together is of like length, and the longest runs first.
    """
    documents = _documents(instances)
    documents.sort(key=lambda document: (document[0].kind.value, -_longest(document), document[0].key))
    total = sum(_cost(document) for document in documents)
    budget = max(1, min(batch_tokens, math.ceil(total / LEAST_PACKETS)))
    # One very long document makes the budget large; a count of documents keeps the short ones from one packet.
    most = max(1, len(documents) // LEAST_PACKETS)
    packets: list[Packet] = []
    for _, same_kind in groupby(documents, key=lambda document: document[0].kind):
        for chunk in _chunks(list(same_kind), budget, most):
            members = tuple(instance for document in chunk for instance in document)
            packets.append(
                Packet(index=len(packets), kind=members[0].kind, instances=members, cost=sum(map(_cost, chunk)))
            )
    return packets


def share_out(packets: Sequence[Packet], world: int) -> list[list[Packet]]:
    """One list of packets per rank, longest first, each given to the rank with the least to do so far."""
    shares: list[list[Packet]] = [[] for _ in range(world)]
    loads = [0] * world
    for packet in sorted(packets, key=lambda packet: (-packet.cost, packet.index)):
        rank = loads.index(min(loads))
        shares[rank].append(packet)
        loads[rank] += packet.cost
    return shares


def estimated_tokens(instance: Instance) -> int:
    """Tokens that one request sends through the model, estimated from its length in bytes."""
    text = len(instance.context.encode()) + len((instance.continuation or "").encode())
    room = instance.generation.max_new_tokens if instance.generation else 0
    return text // BYTES_PER_TOKEN + 1 + room


def _documents(instances: Iterable[Instance]) -> list[tuple[Instance, ...]]:
    """The requests of each document, apart by kind where it asks several."""
    found: dict[tuple[str, int, RequestKind], list[Instance]] = {}
    for instance in instances:
        found.setdefault((instance.key.task, instance.key.doc, instance.kind), []).append(instance)
    return [tuple(document) for document in found.values()]


def _cost(document: Sequence[Instance]) -> int:
    return sum(map(estimated_tokens, document))


def _longest(document: Sequence[Instance]) -> int:
    return max(map(estimated_tokens, document))


def _chunks(documents: Sequence[tuple[Instance, ...]], budget: int, most: int) -> Iterable[list[tuple[Instance, ...]]]:
    """Documents in order, cut where the next would go over `budget` tokens or `most` documents."""
    chunk: list[tuple[Instance, ...]] = []
    spent = 0
    for document in documents:
        cost = _cost(document)
        if chunk and (spent + cost > budget or len(chunk) == most):
            yield chunk
            chunk, spent = [], 0
        chunk.append(document)
        spent += cost
    if chunk:
        yield chunk
