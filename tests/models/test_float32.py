from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from hydra_eval.models.float32 import in_float32
from hydra_eval.models.hf import HFModel
from hydra_eval.records import Packet, Response

from ..toys import GREEDY
from .asking import reply_packet, rolling_packet, scoring_packet
from .building import load
from .text_to_text import save_bart, save_t5

CHOICES = [("Which of these floats on water? Answer:", choice) for choice in (" a cork", " the stone", " the coin")]
PACKETS = [
    scoring_packet(CHOICES),
    rolling_packet(["The ferry leaves at nine and comes back at noon.", "Wood burns."]),
    reply_packet(["Question: How many legs", "She walked to"], GREEDY),
]
BY_KIND = pytest.mark.parametrize("packet", PACKETS, ids=[packet.kind.value for packet in PACKETS])


@pytest.fixture(scope="module")
def half(tiny_folder: Path) -> HFModel:
    return load(tiny_folder, dtype="bfloat16", max_length=128)


@pytest.fixture(scope="module")
def whole(half: HFModel, tmp_path_factory: pytest.TempPathFactory) -> HFModel:
    """What bfloat16 left of the weights, loaded in float32."""
    folder = tmp_path_factory.mktemp("whole")
    half.model.save_pretrained(folder)
    half.tokenizer.save_pretrained(folder)
    return load(folder, dtype="float32", max_length=128)


def answer(model: Any, packet: Packet) -> list[Response]:
    responses: list[Response] = model.generate(packet) if packet is PACKETS[2] else model.loglikelihood(packet)
    return responses


@pytest.mark.parametrize("save", [save_t5, save_bart], ids=["t5", "bart"])
def test_encoder_decoders_too(save: Callable[[Path], Path], tmp_path: Path) -> None:
    half = load(save(tmp_path), dtype="bfloat16")
    before = [answer(half, packet) for packet in PACKETS]
    with half.one_by_one() as reference:
        alone = [answer(reference.model, packet) for packet in PACKETS]
    assert [answer(half, packet) for packet in PACKETS] == before
    assert 0 < max(abs(one.logprob - other.logprob) for one, other in zip(before[0], alone[0], strict=True)) < 1


def state(model: HFModel) -> dict[str, torch.Tensor]:
    """All weights and buffers, those included that are in no checkpoint."""
    named = (*model.model.named_parameters(remove_duplicate=False), *model.model.named_buffers(remove_duplicate=False))
    return {name: tensor.detach().clone() for name, tensor in named}


@BY_KIND
def test_answers_are_those_of_the_same_weights_in_float32(packet: Packet, half: HFModel, whole: HFModel) -> None:
    with half.one_by_one() as reference, whole.one_by_one() as expected:
        assert (reference.dtype, reference.why) == ("float32", None)
        assert answer(reference.model, packet) == answer(expected.model, packet)


@BY_KIND
def test_afterwards_answers_are_what_they_were(packet: Packet, half: HFModel) -> None:
    before = answer(half, packet)
    with half.one_by_one() as reference:
        answer(reference.model, packet)
    assert answer(half, packet) == before


def test_half_the_bits_give_other_sums(half: HFModel) -> None:
    """Else the tests above would show nothing."""
    sums = [response.logprob for response in answer(half, PACKETS[0])]
    with half.one_by_one() as reference:
        assert [response.logprob for response in answer(reference.model, PACKETS[0])] != sums


def test_each_request_has_a_forward_pass_of_its_own(half: HFModel) -> None:
    shapes = []
    hook = half.model.get_input_embeddings().register_forward_hook(
        lambda module, arguments, embedded: shapes.append(tuple(embedded.shape[:2]))
    )
    with half.one_by_one() as reference:
        del shapes[:]
        responses = answer(reference.model, PACKETS[0])
    hook.remove()
    assert sorted(shapes) == sorted((1, one.input_tokens + one.output_tokens - 1) for one in responses)


def test_counters_are_kept_apart(half: HFModel) -> None:
    before = half.efficiency["loglikelihood"].forward_tokens
    with half.one_by_one() as reference:
        answer(reference.model, PACKETS[0])
        assert reference.model.efficiency["loglikelihood"].forward_tokens > 0
    assert half.efficiency["loglikelihood"].forward_tokens == before


@pytest.fixture
def kept(half: HFModel) -> Iterator[None]:
    """Weights and buffers are bit for bit the same in the end, in their own dtypes."""
    half.model.register_buffer("mixed", torch.tensor([1.0, 1e-9], dtype=torch.float64))
    before = state(half)
    yield
    after = state(half)
    assert before.keys() == after.keys()
    assert {tensor.dtype for tensor in before.values()} == {torch.bfloat16, torch.float32, torch.float64}
    assert all(before[name].dtype is after[name].dtype and before[name].equal(after[name]) for name in before)
    del half.model.mixed


@pytest.mark.usefixtures("kept")
def test_weights_come_back_as_they_were(half: HFModel) -> None:
    with half.one_by_one():
        assert {weight.dtype for weight in half.model.parameters()} == {torch.float32}
        assert half.model.mixed.dtype is torch.float64


@pytest.mark.usefixtures("kept")
def test_weights_come_back_after_an_error(half: HFModel) -> None:
    with pytest.raises(KeyError), half.one_by_one():
        raise KeyError


@pytest.mark.usefixtures("kept")
def test_weights_stay_where_float32_does_not_fit(half: HFModel, monkeypatch: pytest.MonkeyPatch) -> None:
    widen, done = torch.Tensor.float, []

    def scarce(tensor: torch.Tensor) -> torch.Tensor:
        done.append(tensor)
        if len(done) == 5:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return widen(tensor)

    monkeypatch.setattr(torch.Tensor, "float", scarce)
    with half.one_by_one() as reference:
        assert reference.dtype == "bfloat16" and reference.why == "float32 takes more memory than there is"


def test_quantised_weights_stay_as_they_are(half: HFModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(half.model, "is_quantized", True, raising=False)
    with half.one_by_one() as reference:
        assert (reference.dtype, reference.why) == ("bfloat16", "quantised weights have no other dtype")


@pytest.mark.parametrize(("own", "within"), [("flash_attention_2", "sdpa"), ("eager", "eager"), ("sdpa", "sdpa")])
def test_a_kernel_that_takes_no_float32_makes_way(own: str, within: str, tiny_folder: Path) -> None:
    half = load(tiny_folder, dtype="bfloat16")
    half.model.config._attn_implementation = own
    with in_float32(half.model, half.config):
        assert half.model.config._attn_implementation == within
    assert half.model.config._attn_implementation == own
