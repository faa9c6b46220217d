from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import torch

from hydra_eval.errors import UserError
from hydra_eval.models.hf import HFModel
from hydra_eval.models.memory import in_halves, peak_memory
from hydra_eval.records import Generation, Response

from .asking import reply_packet, scoring_packet
from .building import load

CHOICES = [("Which of these floats?", choice) for choice in (" a cork", " the stone", " a coin", " six legs", " ice")]


def up_to(most: int) -> Callable[[Sequence[int]], list[int]]:
    def run(items: Sequence[int]) -> list[int]:
        if len(items) > most:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB.")
        return [item * 10 for item in items]

    return run


@pytest.mark.parametrize(
    ("most", "parts", "halvings"),
    [
        (7, [[0, 10, 20, 30, 40, 50, 60]], [0]),
        (4, [[0, 10, 20, 30], [40, 50, 60]], [1, 1]),
        (3, [[0, 10], [20, 30], [40, 50, 60]], [2, 2, 1]),
    ],
)
def test_halves_are_fixed(most: int, parts: list[list[int]], halvings: list[int]) -> None:
    assert list(in_halves(range(7), up_to(most))) == list(zip(parts, halvings, strict=True))


def test_a_single_item_that_is_too_much_is_an_error() -> None:
    with pytest.raises(UserError, match=r"single request.*Tried to allocate 2 GiB.*Lower model.batch_tokens"):
        list(in_halves([1, 2], up_to(0)))


def test_other_errors_pass() -> None:
    def run(items: Sequence[int]) -> int:
        raise RuntimeError("size mismatch")

    with pytest.raises(RuntimeError, match="size mismatch"):
        list(in_halves([1, 2], run))


@pytest.mark.parametrize(
    "error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to …")], ids=repr
)
def test_the_cpus_ways_to_say_so_are_known(error: Exception) -> None:
    def run(items: Sequence[int]) -> int:
        if len(items) > 1:
            raise error
        return 1

    assert list(in_halves([1, 2], run)) == [(1, 1), (1, 1)]


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
