from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hydra_eval.plan import LEAST_PACKETS, MERGED_PASSES, estimated_tokens, merge, plan_packets, share_out
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
def test_a_packet_holds_whole_documents_of_one_task_and_kind_in_request_order(sizes: list[int]) -> None:
    for packet in plan_packets(corpus(sizes), batch_tokens=2000):
        assert {instance.kind for instance in packet.instances} == {packet.kind}
        assert len({instance.key.task for instance in packet.instances}) == 1
        for (_, doc), group in groupby(packet.instances, key=lambda instance: instance.key[:2]):
            assert [instance.key.request for instance in group] == list(range(1 + doc % 4))


@settings(max_examples=60, deadline=None)
@given(sizes=st.lists(st.integers(0, 30) | st.integers(0, 100_000), min_size=1, max_size=400))
def test_a_run_with_64_documents_has_at_least_64_packets(sizes: list[int]) -> None:
    packets = plan_packets(corpus(sizes), batch_tokens=10**9)
    assert len(packets) >= (LEAST_PACKETS if len(sizes) >= LEAST_PACKETS else 1)


@pytest.mark.parametrize("documents", [64, 65, 100, 127, 128, 1000])
def test_documents_of_equal_length_make_at_least_64_packets(documents: int) -> None:
    packets = plan_packets(corpus([40] * documents), batch_tokens=10**9)
    # Twelve heaps, two tasks times three kinds times the remainders of their cut, end with a small packet.
    assert LEAST_PACKETS <= len(packets) <= 2 * LEAST_PACKETS + 12


def test_few_documents_fill_a_forward_pass() -> None:
    instances = [one for index in range(30) for one in document("t", index, size=40 * index)]
    costs = [packet.cost for packet in plan_packets(instances, batch_tokens=1000)]
    assert sum(costs) > 4000 and len(costs) == 5


def test_one_huge_document_does_not_press_the_others_into_one_packet() -> None:
    packets = plan_packets(corpus([1_000_000] + [10] * 99), batch_tokens=10**9)
    assert len(packets) >= LEAST_PACKETS


def test_the_token_budget_bounds_a_packet_of_several_documents() -> None:
    packets = plan_packets(corpus([400] * 2000, kinds=[RequestKind.LOGLIKELIHOOD]), batch_tokens=1000)
    assert all(packet.cost <= 1000 for packet in packets)


def of_texts(texts: Sequence[str], **fields: Any) -> list[Instance]:
    """One request of a document each."""
    return [replace(request(**fields), key=InstanceKey("t", at, 0, 0), context=text) for at, text in enumerate(texts)]


def test_what_begins_alike_stands_side_by_side() -> None:
    packets = plan_packets(of_texts(["b one", "a one", "b two", "a two"], continuation="x"), batch_tokens=1)
    assert [packet.instances[0].key.doc for packet in packets] == [1, 3, 0, 2]


def test_a_packet_knows_what_the_contexts_of_its_task_begin_with() -> None:
    texts = [f"Some shots. Then {number}" for number in range(3)]
    assert {packet.prefix for packet in plan_packets(of_texts(texts), batch_tokens=1)} == {"Some shots. Then "}


def test_choices_without_their_context_do_not_hide_what_the_others_begin_with() -> None:
    first, second = of_texts(["Shots. One", "Shots. Two"], continuation="x")
    bare = [replace(one, key=one.key._replace(request=1), context="") for one in (first, second)]
    (packet,) = plan_packets([first, bare[0], second, bare[1]], batch_tokens=1000)
    assert packet.prefix == "Shots. "


def test_few_documents_still_go_to_several_processes() -> None:
    packets = plan_packets(of_texts([f"{number:02d}" for number in range(48)]), batch_tokens=10**9)
    assert len(packets) == 3


def test_a_common_beginning_and_equal_contexts_cost_nothing_again() -> None:
    long, words = "x" * 4000, ["one", "two", "six", "ten"]
    texts = [long + word for word in words]
    choices = [
        replace(one, key=one.key._replace(request=at)) for one in of_texts(texts, continuation="abcd") for at in (0, 1)
    ]
    costs = [packet.cost for packet in plan_packets(choices, batch_tokens=1)]
    assert costs == [1 + 2] * 4


def test_greedy_repeats_cost_one_reply_and_sampled_ones_each_their_own() -> None:
    def cost(do_sample: bool) -> int:
        generation = Generation(max_new_tokens=50, stop=(), do_sample=do_sample, temperature=1.0)
        (one,) = of_texts(["text"], kind=RequestKind.GENERATE, continuation=None, generation=generation)
        repeats = [replace(one, key=one.key._replace(repeat=repeat)) for repeat in range(3)]
        return plan_packets(repeats, batch_tokens=1)[0].cost

    assert cost(do_sample=True) - cost(do_sample=False) == 100


def test_packets_of_replies_hold_many_forward_passes() -> None:
    texts = [f"{number:03d}" * 40 for number in range(640)]
    scored = plan_packets(of_texts(texts, continuation="x"), batch_tokens=40)
    said = plan_packets(of_texts(texts, kind=RequestKind.GENERATE, continuation=None), batch_tokens=40)
    assert len(scored) == 640 and len(said) < 100


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


@pytest.mark.parametrize(("text", "tokens"), [("", 1), ("abcd", 2), ("x" * 8, 3), ("é" * 4, 3)])
def test_estimated_tokens_count_bytes(text: str, tokens: int) -> None:
    assert estimated_tokens(text) == tokens


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


def test_packets_of_one_prefix_follow_each_other() -> None:
    """A model keeps a few prefixes: those of many tasks in turn would be run for every packet."""
    packets = [replace(packet, prefix="ab"[packet.index % 2]) for packet in packets_costing([1, 9, 5, 7, 3, 8])]
    assert [(packet.prefix, packet.cost) for packet in share_out(packets, 1)[0]] == [
        *(("b", 9), ("b", 8), ("b", 7)),
        *(("a", 5), ("a", 3), ("a", 1)),
    ]


def test_skewed_lengths_are_shared_within_a_tenth() -> None:
    packets = plan_packets(corpus([800, 100] * 500, kinds=[RequestKind.LOGLIKELIHOOD]), batch_tokens=8192)
    loads = [sum(packet.cost for packet in share) for share in share_out(packets, 2)]
    assert max(loads) <= 1.1 * sum(loads) / 2


@settings(max_examples=60, deadline=None)
@given(sizes=SIZES, batch_tokens=st.sampled_from([1, 256, 8192]))
def test_merged_packets_hold_the_same_requests(sizes: list[int], batch_tokens: int) -> None:
    packets = plan_packets(corpus(sizes), batch_tokens=batch_tokens)
    merged = merge(packets[::-1], batch_tokens=batch_tokens)
    keys = [instance.key for packet in merged for instance in packet.instances]
    assert sorted(keys) == sorted(instance.key for packet in packets for instance in packet.instances)
    assert sum(packet.cost for packet in merged) == sum(packet.cost for packet in packets)
    for packet in merged:
        assert {(instance.kind, instance.key.task) for instance in packet.instances} == {
            (packet.kind, packet.instances[0].key.task)
        }
        room = batch_tokens * (MERGED_PASSES if packet.kind is RequestKind.GENERATE else 1)
        assert packet.cost <= room or packet in packets


def test_many_small_packets_become_a_few_full_ones() -> None:
    packets = plan_packets(corpus([400] * 128, kinds=[RequestKind.GENERATE]), batch_tokens=2048)
    assert len(packets) == 64
    merged = merge(packets, batch_tokens=2048)
    assert len(merged) == 2, "one of each task"
    assert [packet.cost for packet in merged] == sorted((packet.cost for packet in merged), reverse=True)
