from __future__ import annotations

import threading
from collections import defaultdict
from dataclasses import replace
from typing import Any

import pytest

from hydra_eval.asking import ask, place_of
from hydra_eval.config.schema import ModelConfig
from hydra_eval.errors import UserError
from hydra_eval.models.dummy import DummyModel, WordTokenizer
from hydra_eval.records import Packet, Response

from .models.asking import reply_packet, rolling_packet, scoring_packet
from .toys import GREEDY

PACKETS = [scoring_packet([("one two", " three")]), reply_packet(["four five"], GREEDY), rolling_packet(["six seven"])]
SECONDS = 20.0


class Watched(DummyModel):
    """Answers no packet but the last before the next one is encoded, and fails where it is told to."""

    def __init__(self, config: ModelConfig, *, last: int, answering: BaseException | None = None) -> None:
        super().__init__(config, WordTokenizer())
        self.last = last
        self.answering = answering
        self.encoded: defaultdict[int, threading.Event] = defaultdict(threading.Event)
        self.answered: list[int] = []

    def encode(self, packet: Packet) -> list[Any]:
        found = super().encode(packet)
        self.encoded[packet.index].set()
        return found

    def loglikelihood(self, packet: Packet, encoded: Any = None) -> list[Response]:
        if packet.index < self.last:
            assert self.encoded[packet.index + 1].wait(SECONDS), "nothing was encoded ahead"
        if self.answering is not None:
            raise self.answering
        self.answered.append(packet.index)
        return super().loglikelihood(packet, encoded)


def choices(count: int) -> list[Packet]:
    return [replace(scoring_packet([(f"context {index}", " word")]), index=index) for index in range(count)]


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("encode")]


@pytest.mark.parametrize(("keeps_ids", "counts"), [(False, [0, 0, 0]), (True, [3, 2, 3])], ids=["dropped", "kept"])
def test_token_ids_stay_in_memory_only_on_request(keeps_ids: bool, counts: list[int]) -> None:
    model = DummyModel(ModelConfig(kind="dummy"), WordTokenizer())
    responses = ask(model, PACKETS, lambda packet: None, keeps_ids=keeps_ids)
    assert [len(response.input_ids) for response in responses] == counts


def test_a_packet_is_encoded_before_the_one_before_it_is_answered() -> None:
    packets = choices(4)
    model = Watched(ModelConfig(kind="dummy"), last=3)
    moved: list[int] = []
    ask(model, packets, lambda packet: moved.append(packet.index))
    assert moved == model.answered == [0, 1, 2, 3]


def test_what_was_encoded_ahead_changes_no_answer() -> None:
    model = DummyModel(ModelConfig(kind="dummy"), WordTokenizer())
    at_once = [model.loglikelihood(PACKETS[0]), model.generate(PACKETS[1]), model.loglikelihood(PACKETS[2])]
    assert ask(model, PACKETS, lambda packet: None, keeps_ids=True) == [one for found in at_once for one in found]


def test_nothing_to_ask_is_no_fault() -> None:
    assert ask(DummyModel(ModelConfig(kind="dummy"), WordTokenizer()), [], lambda packet: None) == []


def test_what_cannot_be_encoded_is_told_as_ever_after_the_answers_before_it() -> None:
    long = replace(scoring_packet([("a", " b" * 9)]), index=1)
    model = DummyModel(ModelConfig(kind="dummy", max_length=8), WordTokenizer())
    moved: list[int] = []
    with pytest.raises(UserError, match=r"^toy, document 0, request 0: the continuation has 9 tokens"):
        ask(model, [*choices(1), long], lambda packet: moved.append(packet.index))
    assert moved == [0]
    assert threads() == []


@pytest.mark.parametrize(
    "error",
    [RuntimeError("the model"), UserError("memory"), KeyboardInterrupt()],
    ids=lambda error: type(error).__name__,
)
def test_no_thread_is_left_behind(error: BaseException) -> None:
    with pytest.raises(type(error)) as raised:
        ask(Watched(ModelConfig(kind="dummy"), last=2, answering=error), choices(3), lambda packet: None)
    assert raised.value is error
    assert threads() == []


def test_a_fault_says_where_it_happened() -> None:
    model = Watched(ModelConfig(kind="dummy"), last=0, answering=RuntimeError("the model"))
    with pytest.raises(RuntimeError) as raised:
        ask(model, choices(1), lambda packet: None)
    assert raised.value.__notes__ == ["in task 'toy', document 0"]


def test_a_place_is_a_task_and_its_documents() -> None:
    assert place_of(scoring_packet([("a", " b")] * 4)) == "task 'toy', 4 documents from 0 to 3"
