from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest
import torch

from hydra_eval.errors import OutOfMemory, UserError
from hydra_eval.models.hf import HFModel
from hydra_eval.models.memory import in_halves, in_one, peak_memory
from hydra_eval.records import Generation, InstanceKey, Response

from .asking import reply_packet, scoring_packet
from .building import load

CHOICES = [("Which of these floats?", choice) for choice in (" a cork", " the stone", " a coin", " six legs", " ice")]


class Asked(NamedTuple):
    key: InstanceKey


def asked(count: int) -> list[Asked]:
    return [Asked(InstanceKey("toy", doc, 0, 0)) for doc in range(count)]


def docs(items: Sequence[Asked]) -> list[int]:
    return [item.key.doc for item in items]


def keep() -> None:
    """Nothing is kept that could be dropped."""


def up_to(most: int) -> Callable[[Sequence[Asked]], list[int]]:
    def run(items: Sequence[Asked]) -> list[int]:
        if len(items) > most:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB.")
        return docs(items)

    return run


@pytest.mark.parametrize(
    ("most", "parts", "halvings"),
    [
        (7, [[0, 1, 2, 3, 4, 5, 6]], [0]),
        (4, [[0, 1, 2, 3], [4, 5, 6]], [1, 1]),
        (3, [[0, 1], [2, 3], [4, 5, 6]], [2, 2, 1]),
    ],
)
def test_halves_are_fixed(most: int, parts: list[list[int]], halvings: list[int]) -> None:
    assert list(in_halves(asked(7), up_to(most), keep)) == list(zip(parts, halvings, strict=True))


def test_a_single_item_that_is_too_much_is_an_error() -> None:
    says = r"Task 'toy', document 0, request 0: out of memory with this request alone.*2 GiB.*Lower model.max_length"
    with pytest.raises(OutOfMemory, match=says):
        list(in_halves(asked(2), up_to(0), keep))


def test_what_is_kept_is_dropped_before_a_single_item_is_given_up() -> None:
    kept = ["a prefix"]

    def run(items: Sequence[Asked]) -> list[int]:
        return up_to(0 if kept else 1)(items)

    assert list(in_halves(asked(1), run, kept.clear)) == [([0], 0)]


@pytest.mark.parametrize(("items", "most", "tries"), [(16, 1, 31), (16, 4, 7), (1, 0, 2), (16, 0, 6)])
def test_tries_are_bounded(items: int, most: int, tries: int) -> None:
    sizes: list[int] = []

    def run(part: Sequence[Asked]) -> list[int]:
        sizes.append(len(part))
        return up_to(most)(part)

    with suppress(OutOfMemory):
        list(in_halves(asked(items), run, keep))
    assert len(sizes) == tries


def test_slices_of_a_model_are_not_halved() -> None:
    assert list(in_one(asked(2), up_to(2), keep)) == [([0, 1], 0)]
    with pytest.raises(UserError, match=r"a slice of the model.*Tried to allocate 2 GiB.*Lower model.batch_tokens"):
        list(in_one(asked(2), up_to(1), keep))


def test_other_errors_pass() -> None:
    def run(items: Sequence[Asked]) -> int:
        raise RuntimeError("size mismatch")

    with pytest.raises(RuntimeError, match="size mismatch"):
        list(in_halves(asked(2), run, keep))


WAYS = {
    "python": MemoryError(),
    "cpu": RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 4 bytes."),
    "windows": RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 4 bytes."),
    "driver": RuntimeError("CUDA error: out of memory\nCUDA kernel errors might be reported later."),
    "cublas": RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
    "apple": RuntimeError("MPS backend out of memory (MPS allocated: 9 GB, max allowed: 9 GB)."),
}


@pytest.mark.parametrize("error", WAYS.values(), ids=WAYS)
def test_other_ways_to_say_so_are_known(error: Exception) -> None:
    def run(items: Sequence[Asked]) -> int:
        if len(items) > 1:
            raise error
        return 1

    assert list(in_halves(asked(2), run, keep)) == [(1, 1), (1, 1)]


def short_of_memory(folder: Path, monkeypatch: pytest.MonkeyPatch, most: int) -> HFModel:
    """Fails where more than `most` positions are in one forward pass."""
    model = load(folder, max_length=128)
    forward = model.model.model.embed_tokens.forward

    def limited(ids: torch.Tensor) -> torch.Tensor:
        if ids.numel() > most:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return forward(ids)

    monkeypatch.setattr(model.model.model.embed_tokens, "forward", limited)
    return model


def test_scores_survive_a_split(
    tiny: HFModel, tiny_folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    packet = scoring_packet(CHOICES)
    split = short_of_memory(tiny_folder, monkeypatch, most=12).loglikelihood(packet)
    whole = tiny.loglikelihood(packet)
    assert [one.logprob for one in split] == pytest.approx([one.logprob for one in whole], abs=1e-4)
    assert {one.halvings for one in whole} == {0} and min(one.halvings for one in split) > 0
    assert "is run again in two halves" in caplog.text


def test_replies_survive_a_split(tiny: HFModel, tiny_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packet = reply_packet([context + choice for context, choice in CHOICES], Generation(max_new_tokens=8, stop=()))
    split = short_of_memory(tiny_folder, monkeypatch, most=16).generate(packet)

    def said(responses: Sequence[Response]) -> list[str | None]:
        return [one.text for one in responses]

    assert said(split) == said(tiny.generate(packet)) and min(one.halvings for one in split) > 0


def test_peak_memory_of_a_process_is_more_than_that_of_python() -> None:
    assert peak_memory(torch.device("cpu")) > 50 * 2**20
