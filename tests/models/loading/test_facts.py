from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from ..asking import scoring_packet
from ..building import load
from .asked import PAIRS, changed_weights, scores


def test_facts_of_a_plain_model(tiny_folder: Path) -> None:
    facts = load(tiny_folder, dtype="bfloat16").facts.loading
    assert {name: value for name, value in facts.items() if value not in (None, False)} == {
        "dtype": "bfloat16",
        "softmax_dtype": "float32",
        "attention": "sdpa",
        "tensor_parallel": 1,
    }


def test_facts_of_a_delta(tiny_folder: Path, tmp_path: Path) -> None:
    delta = str(changed_weights(tiny_folder, tmp_path, scale=0.05))
    facts = load(tiny_folder, delta=delta, attn_implementation="eager").facts.loading
    assert (facts["delta"], facts["delta_sha"], facts["attention"]) == (delta, None, "eager")


def test_half_precision_is_scored_by_a_float32_softmax(tiny_folder: Path) -> None:
    model = load(tiny_folder, dtype="bfloat16", prefix_sharing=False)
    (response,) = model.loglikelihood(scoring_packet(PAIRS[:1]))
    ids = torch.tensor([response.input_ids])
    with torch.inference_mode():
        logits = model.model(ids[:, :-1]).logits[0, -response.output_tokens :]
    assert logits.dtype == torch.bfloat16
    exact = logits.double().log_softmax(-1).gather(1, ids[0, -response.output_tokens :, None])[:, 0].tolist()
    assert list(response.token_logprobs) == pytest.approx(exact, rel=1e-6)
    assert torch.tensor(exact).bfloat16().tolist() != pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize(
    ("kernel", "shares"),
    [("eager", True), ("sdpa", True), ("flex_attention", "attention by flex_attention takes no mask of its own")],
)
def test_every_kernel_scores_alike_or_says_why_it_runs_plainly(kernel: str, shares: Any, tiny_folder: Path) -> None:
    model = load(tiny_folder, attn_implementation=kernel, batch_size=1)
    assert (model.facts.loading["attention"], model.facts.engine["prefix_sharing"]) == (kernel, shares)
    assert scores(model) == pytest.approx(scores(load(tiny_folder)), abs=1e-3)
