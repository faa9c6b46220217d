from __future__ import annotations

from pathlib import Path

import pytest
import torch
from transformers import LlamaForCausalLM

from hydra_eval.errors import UserError

from ..building import load
from .asked import PAIRS, changed_weights, refused, scores


def test_each_weight_is_the_sum_of_both(tiny_folder: Path, tmp_path: Path) -> None:
    delta = changed_weights(tiny_folder, tmp_path, scale=0.05)
    summed = dict(load(tiny_folder, delta=str(delta)).model.named_parameters())
    own, added = (dict(LlamaForCausalLM.from_pretrained(folder).named_parameters()) for folder in (tiny_folder, delta))
    assert all(torch.equal(summed[name], own[name] + added[name]) for name in own)
    assert summed.keys() == own.keys()


def test_tied_weights_are_added_to_once(tiny_folder: Path, tmp_path: Path) -> None:
    tied, delta = (
        changed_weights(tiny_folder, tmp_path / name, scale=scale, tie_word_embeddings=True)
        for name, scale in (("tied", 0.4), ("delta", 0.05))
    )
    model = load(tied, delta=str(delta)).model
    own, added = (LlamaForCausalLM.from_pretrained(folder).lm_head.weight for folder in (tied, delta))
    assert torch.equal(model.lm_head.weight, own + added)


@pytest.mark.parity
def test_scores_with_a_delta_are_those_of_lm_eval(tiny_folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("lm_eval.models.huggingface", reason="needs the parity extra")
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    delta = str(changed_weights(tiny_folder, tmp_path, scale=0.05))
    oracle = HFLM(pretrained=str(tiny_folder), delta=delta, device="cpu", dtype="float32", batch_size=2)
    asked = [Instance(request_type="loglikelihood", doc={}, arguments=pair, idx=0) for pair in PAIRS]
    theirs = [logprob for logprob, _ in oracle.loglikelihood(asked, disable_tqdm=True)]
    ours = scores(load(tiny_folder, delta=delta))
    assert ours == pytest.approx(theirs, abs=1e-4)
    assert ours != pytest.approx(scores(load(tiny_folder)), abs=0.1)


def test_a_delta_that_is_not_there(tiny_folder: Path) -> None:
    refused(tiny_folder, "model.delta=/no/such: there is no such folder", delta="/no/such")


def test_a_delta_of_another_depth_is_refused_without_its_weights(tiny_folder: Path, tmp_path: Path) -> None:
    delta = changed_weights(tiny_folder, tmp_path, scale=0.05, num_hidden_layers=3)
    (delta / "model.safetensors").unlink()
    refused(tiny_folder, "num_hidden_layers is 3, and that of .* is 2", delta=str(delta))


def test_a_delta_of_other_shapes(tiny_folder: Path, tmp_path: Path) -> None:
    delta = changed_weights(tiny_folder, tmp_path, scale=0.05, intermediate_size=80)
    with pytest.raises(UserError, match=r"6 weights are missing there or of another shape.*mlp.down_proj"):
        load(tiny_folder, delta=str(delta))
