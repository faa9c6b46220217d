from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hydra_eval.plan import LEAST_PACKETS, estimated_tokens, plan_packets, share_out
from hydra_eval.records import Generation, Instance, InstanceKey, Packet, RequestKind

from .toys import request


def document(
    task: str, index: int, *, size: int, requests: int = 1, kind: RequestKind = RequestKind.LOGLIKELIHOOD
) -> Any:
    """Requests of one document with contexts of `size` bytes."""
    asked = request(kind=kind)
    return [replace(asked, key=InstanceKey(task, index, number, 0), context="x" * size) for number in range(requests)]


def corpus(sizes: Sequence[int], *, kinds: Sequence[RequestKind] = tuple(RequestKind)) -> list[Instance]:
    return [
        instance
        for index, size in enumerate(sizes)
        for instance in document(
            f"t{index % 2}", index, size=size, requests=1 + index % 4, kind=kinds[index % len(kinds)]
        )
    ]


SIZES = st.lists(st.integers(0, 4000), min_size=1, max_size=200)


@settings(max_examples=60, deadline=None)
@given(sizes=SIZES, batch_tokens=st.sampled_from([1, 256, 8192, 10**9]))
def test_every_instance_is_in_exactly_one_packet(sizes: list[int], batch_tokens: int) -> None:
    instances = corpus(sizes)
    packets = plan_packets(instances, batch_tokens=batch_tokens)
    planned = [instance for packet in packets for instance in packet.instances]
    assert len(planned) == len(instances)
    assert {instance.key for instance in planned} == {instance.key for instance in instances}
    assert [packet.index for packet in packets] == list(range(len(packets)))


@settings(max_examples=60, deadline=None)
@given(sizes=SIZES)
def test_a_packet_holds_whole_documents_of_one_kind_in_request_order(sizes: list[int]) -> None:
    for packet in plan_packets(corpus(sizes), batch_tokens=2000):
        assert {instance.kind for instance in packet.instances} == {packet.kind}
        for (_, doc), group in groupby(packet.instances, key=lambda instance: instance.key[:2]):
            assert [instance.key.request for instance in group] == list(range(1 + doc % 4))
        assert packet.cost == sum(map(estimated_tokens, packet.instances))


@settings(max_examples=60, deadline=None)
@given(sizes=st.lists(st.integers(0, 30) | st.integers(0, 100_000), min_size=1, max_size=400))
def test_a_run_has_as_many_packets_as_documents_up_to_64(sizes: list[int]) -> None:
    packets = plan_packets(corpus(sizes), batch_tokens=10**9)
    assert len(packets) >= min(LEAST_PACKETS, len(sizes))


@pytest.mark.parametrize("documents", [1, 63, 64, 65, 100, 127, 128, 1000])
def test_documents_of_equal_length_make_at_least_64_packets(documents: int) -> None:
    packets = plan_packets(corpus([40] * documents), batch_tokens=10**9)
    assert min(LEAST_PACKETS, documents) <= len(packets) <= 2 * LEAST_PACKETS + 3


def test_one_huge_document_does_not_press_the_others_into_one_packet() -> None:
    packets = plan_packets(corpus([1_000_000] + [10] * 99), batch_tokens=10**9)
    assert len(packets) >= LEAST_PACKETS


def test_the_token_budget_bounds_a_packet_of_several_documents() -> None:
    packets = plan_packets(corpus([400] * 2000, kinds=[RequestKind.LOGLIKELIHOOD]), batch_tokens=1000)
    assert all(packet.cost <= 1000 for packet in packets)


def test_the_longest_run_first() -> None:
    packets = plan_packets(corpus([10, 500, 90, 2000, 300], kinds=[RequestKind.GENERATE]), batch_tokens=1)
    assert [packet.instances[0].key.doc for packet in packets] == [3, 1, 4, 2, 0]


@settings(max_examples=30, deadline=None)
@given(sizes=SIZES, seed=st.integers(0, 3))
def test_the_plan_does_not_depend_on_the_documents_order(sizes: list[int], seed: int) -> None:
    instances = corpus(sizes)
    documents = [list(group) for _, group in groupby(instances, key=lambda instance: instance.key[:2])]
    Random(seed).shuffle(documents)
    shuffled = [instance for group in documents for instance in group]
    assert plan_packets(shuffled, batch_tokens=512) == plan_packets(instances, batch_tokens=512)


def test_nothing_to_ask_is_no_packet() -> None:
    assert plan_packets([], batch_tokens=100) == []
    assert share_out([], 3) == [[], [], []]


@pytest.mark.parametrize(
    ("instance", "tokens"),
    [
        (request(context="", continuation="abcd"), 2),
        (request(context="x" * 8, continuation=None), 3),
        (request(context="é" * 4, continuation=None), 3),
        (request(kind=RequestKind.GENERATE, context="x" * 4), 18),
        (request(kind=RequestKind.GENERATE, context="", generation=Generation(max_new_tokens=100, stop=())), 101),
    ],
)
def test_estimated_tokens_count_bytes_and_the_room_for_a_reply(instance: Instance, tokens: int) -> None:
    assert estimated_tokens(instance) == tokens


def packets_costing(costs: Sequence[int]) -> list[Packet]:
    return [Packet(index=index, kind=RequestKind.ROLLING, instances=(), cost=cost) for index, cost in enumerate(costs)]


@settings(max_examples=100, deadline=None)
@given(costs=st.lists(st.integers(1, 1000), max_size=80), world=st.integers(1, 8))
def test_shares_hold_every_packet_once_and_differ_by_less_than_one(costs: list[int], world: int) -> None:
    shares = share_out(packets_costing(costs), world)
    assert sorted(packet.index for share in shares for packet in share) == list(range(len(costs)))
    loads = [sum(packet.cost for packet in share) for share in shares]
    assert len(shares) == world and max(loads) - min(loads) <= max(costs, default=0)


@pytest.mark.parametrize(
    ("costs", "world", "loads"),
    [
        ([10, 1, 1, 1, 1, 1], 2, [10, 5]),
        ([8, 7, 6, 5, 4], 2, [17, 13]),
        ([5, 5, 4, 4, 3, 3], 3, [8, 8, 8]),
        ([7], 3, [7, 0, 0]),
    ],
)
def test_a_packet_goes_to_the_rank_with_the_least_to_do(costs: list[int], world: int, loads: list[int]) -> None:
    assert [sum(packet.cost for packet in share) for share in share_out(packets_costing(costs), world)] == loads


@settings(max_examples=30, deadline=None)
@given(costs=st.lists(st.integers(1, 50), max_size=30), world=st.integers(1, 8), seed=st.integers(0, 3))
def test_shares_do_not_depend_on_the_order_of_packets(costs: list[int], world: int, seed: int) -> None:
    packets = packets_costing(costs)
    shuffled = list(packets)
    Random(seed).shuffle(shuffled)
    assert share_out(shuffled, world) == share_out(packets, world)


def test_each_rank_runs_its_longest_first() -> None:
    for share in share_out(packets_costing([1, 9, 5, 7, 3, 8]), 2):
        assert [packet.cost for packet in share] == sorted((packet.cost for packet in share), reverse=True)


def test_skewed_lengths_are_shared_within_a_tenth() -> None:
    packets = plan_packets(corpus([800, 100] * 500, kinds=[RequestKind.LOGLIKELIHOOD]), batch_tokens=8192)
    loads = [sum(packet.cost for packet in share) for share in share_out(packets, 2)]
    assert max(loads) <= 1.1 * sum(loads) / 2
