"""A packet may be encoded before it is answered, and by another thread."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy

import pytest

from hydra_eval.errors import UserError
from hydra_eval.models.hf import HFModel
from hydra_eval.records import Generation, Packet, RequestKind

from .asking import reply_packet, rolling_packet, scoring_packet

SHORT = Generation(max_new_tokens=6, stop=())
PACKETS = [
    scoring_packet([("The ferry leaves", " at noon"), ("The ferry leaves", " late"), ("", "Water")]),
    rolling_packet(["A cork floats on the water."]),
    reply_packet(["The ferry", "A market"], SHORT, repeats=2),
]


@pytest.mark.parametrize("packet", PACKETS, ids=lambda packet: packet.kind.value)
def test_what_was_encoded_elsewhere_is_answered_alike(tiny: HFModel, packet: Packet) -> None:
    answer = tiny.generate if packet.kind is RequestKind.GENERATE else tiny.loglikelihood
    with ThreadPoolExecutor(max_workers=1) as thread:
        encoded = thread.submit(tiny.encode, packet).result()
    assert answer(packet, encoded) == answer(packet)


def test_encoding_is_no_work_of_the_model(tiny: HFModel) -> None:
    before = deepcopy(tiny.efficiency)
    for packet in PACKETS:
        tiny.encode(packet)
    assert tiny.efficiency == before


def test_what_cannot_be_generated_is_refused_when_it_is_encoded(tiny: HFModel) -> None:
    packet = reply_packet(["a"], Generation(max_new_tokens=9, stop=(), extra={"repetition_penality": 2}))
    with pytest.raises(UserError, match="repetition_penality"):
        tiny.encode(packet)
