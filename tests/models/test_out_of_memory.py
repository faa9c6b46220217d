"""Memory that runs out, wherever that is: every request is answered, as if there had been enough."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch

from hydra_eval.errors import OutOfMemory
from hydra_eval.models.engine import trunk
from hydra_eval.models.hf import HFModel
from hydra_eval.plan import plan_packets
from hydra_eval.records import Generation, Instance, InstanceKey, Packet, RequestKind, Response

from .asking import reply_packet
from .building import load

LIMIT = 4096
"""Positions whose keys fit into memory: rows times what each holds."""
LETTERS = "xqzjvkwy"
"""Rare in TINY's corpus, so that each is a token."""
GREEDY = Generation(max_new_tokens=90, stop=())
SAMPLED = replace(GREEDY, do_sample=True, temperature=1.0)
ERRORS: dict[str, Callable[[], Exception]] = {
    "gpu": lambda: torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB."),
    "driver": lambda: RuntimeError("CUDA error: out of memory"),
    "host": MemoryError,
}
ENGINES = {"shared": True, "alone": False}


@pytest.fixture(params=ENGINES)
def model(request: pytest.FixtureRequest, tiny_folder: Path) -> HFModel:
    return load(tiny_folder, max_length=1100, batch_tokens=20_000, prefix_sharing=ENGINES[request.param])


def letters(random: Random, count: int) -> str:
    return "".join(random.choices(LETTERS, k=count))


def documents(lengths: Sequence[int], *, start: str = "") -> list[Instance]:
    """Each with two choices after a context of so many tokens."""
    random = Random(1)
    contexts = [start + letters(random, length) for length in lengths]
    return [
        Instance(
            key=InstanceKey("toy", doc, choice, 0),
            kind=RequestKind.LOGLIKELIHOOD,
            context=context,
            continuation="xq"[choice] * (choice + 1),
        )
        for doc, context in enumerate(contexts)
        for choice in range(2)
    ]


def cache_in(options: Mapping[str, Any]) -> Any:
    """transformers renames the argument in the course of version 5."""
    return options.get("cache", options.get("past_key_values"))


class Memory:
    """Stands before the first layer, sees what each pass would hold, and says whether that is too much."""

    def __init__(self, fails: Callable[[int, int], bool], error: Callable[[], Exception] = ERRORS["gpu"]) -> None:
        self.fails = fails
        """`(number of the pass, positions that it holds) -> there is no room`."""
        self.error = error
        self.passes = 0
        self.failures = 0
        self.left: list[weakref.ref[Any]] = []
        """What a failed pass was given."""

    def __call__(self, layer: Any, inputs: tuple[Any, ...], options: dict[str, Any]) -> None:
        hidden, cache = inputs[0], cache_in(options)
        assert not any(ref() is not None for ref in self.left), "the failed try is still in memory"
        held = hidden.shape[0] * (hidden.shape[1] + (cache.get_seq_length() if cache is not None else 0))
        self.passes += 1
        if self.fails(self.passes, held):
            self.failures += 1
            self.left += [weakref.ref(hidden), *([weakref.ref(cache)] if cache is not None else [])]
            raise self.error()


@contextmanager
def short_of_memory(model: HFModel, memory: Memory) -> Iterator[Memory]:
    handle = model.model.model.layers[0].register_forward_pre_hook(memory, with_kwargs=True)
    try:
        yield memory
    finally:
        handle.remove()


def only(failing: int, number: int, held: int) -> bool:
    return number == failing


def answers(model: HFModel, packets: Sequence[Packet]) -> list[Response]:
    ask = {RequestKind.GENERATE: model.generate, RequestKind.LOGLIKELIHOOD: model.loglikelihood}
    return [one for packet in packets for one in ask[packet.kind](packet)]


def said(responses: Sequence[Response]) -> list[tuple[InstanceKey, str | None, int]]:
    return [(one.key, one.text, one.output_tokens) for one in responses]


def test_every_document_is_scored_once(model: HFModel, tiny_folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    # 15 of them, 7,800 tokens in all.
    lengths = list(range(16, 1025, 72))
    Random(0).shuffle(lengths)
    instances = documents(lengths)
    packets = plan_packets(instances, batch_tokens=20_000)
    with short_of_memory(model, Memory(lambda number, held: held > LIMIT)) as memory:
        found = answers(model, packets)
    alone = load(tiny_folder, max_length=1100, batch_size=1, prefix_sharing=False)
    expected = {one.key: one.logprob for one in answers(alone, packets)}
    assert sorted(one.key for one in found) == sorted(one.key for one in instances)
    assert {one.key: one.logprob for one in found} == pytest.approx(expected, abs=1e-4, rel=2e-6)
    lines = [record for record in caplog.records if "is run again in two halves" in record.getMessage()]
    assert 0 < memory.failures == len(lines) < len(instances)
    assert max(one.halvings for one in found) > 0


@pytest.mark.parametrize("generation", [GREEDY, SAMPLED], ids=["greedy", "sampled"])
def test_replies_that_outgrow_memory_are_made_again_the_same(generation: Generation, model: HFModel) -> None:
    """The prompts fit; after some sixty tokens the replies do not."""
    random = Random(2)
    packet = reply_packet([letters(random, random.randint(5, 40)) for _ in range(12)], generation)
    expected = model.generate(packet)
    with short_of_memory(model, Memory(lambda number, held: held > 1300)) as memory:
        found = model.generate(packet)
    assert said(found) == said(expected)
    assert 0 < memory.failures < len(packet.instances) and min(one.halvings for one in found) > 0


@pytest.mark.parametrize(
    ("kind", "error"), [("scores", "gpu"), ("scores", "driver"), ("scores", "host"), ("replies", "gpu")]
)
def test_it_does_not_matter_which_pass_fails(
    kind: str, error: str, tiny_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run of the prefix, that of a long start behind it, the tree, and each step of the replies."""
    monkeypatch.setattr(trunk, "LONG_START", 16)
    start = letters(Random(3), 60)
    (packet,) = plan_packets(documents([30, 3, 5], start=start), batch_tokens=20_000)
    if kind == "replies":
        packet = replace(reply_packet([one.context for one in packet.instances[::2]], GREEDY), prefix=start)
    model = load(tiny_folder, max_length=200, batch_tokens=20_000)
    with short_of_memory(model, Memory(lambda number, held: False)) as memory:
        expected = answers(model, [packet])
    for failing in {*range(1, 5), memory.passes // 2, memory.passes} & {*range(1, memory.passes + 1)}:
        model.engine.forget()
        with short_of_memory(model, Memory(partial(only, failing), ERRORS[error])) as memory:
            found = answers(model, [packet])
        assert memory.failures == 1 and {one.halvings for one in found} == {1}
        assert said(found) == said(expected)
        assert [one.token_logprobs for one in found] == [
            pytest.approx(one.token_logprobs, abs=2e-5) for one in expected
        ]


def test_logits_that_are_too_large_are_made_again(model: HFModel, monkeypatch: pytest.MonkeyPatch) -> None:
    packets = plan_packets(documents([9, 20, 33]), batch_tokens=20_000)
    expected, soften, calls = answers(model, packets), torch.log_softmax, []

    def fails_once(*args: Any, **options: Any) -> torch.Tensor:
        calls.append(1)
        if len(calls) == 1:
            raise ERRORS["gpu"]()
        return soften(*args, **options)

    monkeypatch.setattr(torch, "log_softmax", fails_once)
    found = answers(model, packets)
    assert [one.logprob for one in found] == pytest.approx([one.logprob for one in expected], abs=1e-4)
    assert {one.halvings for one in found} == {1} and len(calls) >= 3


@pytest.mark.parametrize("kind", ["scores", "replies"])
def test_a_request_too_large_by_itself_is_named(kind: str, model: HFModel) -> None:
    packets = plan_packets(documents([20, 500, 30]), batch_tokens=20_000)
    if kind == "replies":
        packets = [reply_packet([one.context for one in documents([20, 500, 30])[::2]], GREEDY)]
    says = r"^Task 'toy', document 1, request [01]: out of memory with this request alone .*Tried to allocate 2 GiB"
    with (
        short_of_memory(model, Memory(lambda number, held: held > 400)) as memory,
        pytest.raises(OutOfMemory, match=says),
    ):
        answers(model, packets)
    assert memory.failures < 8


def test_prefixes_that_are_kept_make_room(tiny_folder: Path) -> None:
    """What was kept for other tasks goes before a request is given up."""
    model = load(tiny_folder, max_length=1100, batch_tokens=20_000)
    random, kept = Random(4), []
    tasks = [plan_packets(documents([5], start=letters(random, 200))[:1], batch_tokens=20_000) for _ in range(3)]

    def crowded(number: int, held: int) -> bool:
        return held + sum(ref() is not None for ref in kept) * 200 > 700

    def keep(layer: Any, inputs: Any, options: Any, made: torch.Tensor) -> None:
        if made.shape[1] > 100:
            kept.append(weakref.ref(cache_in(options).layers[0].fresh[0]))

    model.model.model.layers[0].register_forward_hook(keep, with_kwargs=True)
    with short_of_memory(model, Memory(crowded)) as memory:
        found = [one for packets in tasks for one in answers(model, packets)]
    assert [one.halvings for one in found] == [0] * 3 and memory.failures == 1
