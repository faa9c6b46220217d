from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import LlamaForCausalLM

from hydra_eval.config.schema import ModelConfig
from hydra_eval.errors import UserError
from hydra_eval.models import load_tokenizer

from ..building import load
from .asked import PAIRS, changed_weights, refused, scores

peft = pytest.importorskip("peft", reason="needs peft")

LAYERS = ["q_proj", "v_proj", "up_proj"]


def save_adapter(model: Any, target: Path, **options: Any) -> Path:
    """A LoRA adapter whose weights are drawn by chance, none of them zero."""
    config = peft.LoraConfig(
        **{"target_modules": LAYERS, "r": 4, "lora_alpha": 32, "task_type": "CAUSAL_LM"} | options,
        init_lora_weights=False,
    )
    with torch.random.fork_rng():
        torch.manual_seed(3)
        peft.get_peft_model(model, config).save_pretrained(target)
    return target


@pytest.fixture(scope="module")
def adapter(tiny_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_adapter(LlamaForCausalLM.from_pretrained(tiny_folder), tmp_path_factory.mktemp("adapter"))


def test_an_adapter_changes_the_scores_as_peft_says(tiny_folder: Path, adapter: Path) -> None:
    own, changed = load(tiny_folder), load(tiny_folder, adapter=str(adapter))
    ids = torch.arange(2, 30)[None]
    with torch.inference_mode():
        by_peft = peft.PeftModel.from_pretrained(LlamaForCausalLM.from_pretrained(tiny_folder), adapter)(ids).logits
        torch.testing.assert_close(changed.model(ids).logits, by_peft, rtol=0, atol=0)
    assert all(abs(one - other) > 0.1 for one, other in zip(scores(own), scores(changed), strict=True))


@pytest.mark.parametrize(
    "options",
    [{}, {"target_modules": ["embed_tokens", "lm_head", "q_proj"]}, {"use_dora": True}],
    ids=["inside the layers", "at both ends", "dora"],
)
def test_prefixes_are_shared_under_an_adapter(options: dict[str, Any], tiny_folder: Path, tmp_path: Path) -> None:
    where = str(save_adapter(LlamaForCausalLM.from_pretrained(tiny_folder), tmp_path, **options))
    trees, plain = load(tiny_folder, adapter=where), load(tiny_folder, adapter=where, prefix_sharing=False)
    assert trees.facts.engine["prefix_sharing"] is True
    assert scores(trees) == pytest.approx(scores(plain), abs=1e-4)


@pytest.mark.parity
def test_scores_under_an_adapter_are_those_of_lm_eval(tiny_folder: Path, adapter: Path) -> None:
    pytest.importorskip("lm_eval.models.huggingface", reason="needs the parity extra")
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    oracle = HFLM(pretrained=str(tiny_folder), peft=str(adapter), device="cpu", dtype="float32", batch_size=2)
    asked = [Instance(request_type="loglikelihood", doc={}, arguments=pair, idx=0) for pair in PAIRS]
    theirs = [logprob for logprob, _ in oracle.loglikelihood(asked, disable_tqdm=True)]
    assert scores(load(tiny_folder, adapter=str(adapter))) == pytest.approx(theirs, abs=1e-4)


def test_an_adapter_with_new_tokens_brings_their_embeddings(tiny_folder: Path, tmp_path: Path) -> None:
    larger = LlamaForCausalLM.from_pretrained(tiny_folder)
    larger.resize_token_embeddings(424)
    where = save_adapter(larger, tmp_path)
    rows = larger.get_input_embeddings().weight
    assert torch.equal(load(tiny_folder, adapter=str(where)).model.get_input_embeddings().weight, rows)


def test_an_adapter_that_is_not_there(tiny_folder: Path, tmp_path: Path) -> None:
    refused(tiny_folder, "model.adapter=/no/such: there is no such folder", adapter="/no/such")
    refused(tiny_folder, "adapter_config.json", adapter=str(tmp_path))
    refused(tiny_folder, "of which adapter", adapter_revision="main")


def test_an_adapter_that_speaks_first_is_refused(tiny_folder: Path, tmp_path: Path) -> None:
    config = peft.PromptTuningConfig(num_virtual_tokens=3, task_type="CAUSAL_LM")
    peft.get_peft_model(LlamaForCausalLM.from_pretrained(tiny_folder), config).save_pretrained(tmp_path)
    refused(tiny_folder, "of kind PROMPT_TUNING, which puts tokens of its own", adapter=str(tmp_path))


@pytest.mark.parametrize(
    "fields", [{"hidden_size": 32}, {"num_hidden_layers": 1}], ids=["other shapes", "too few layers"]
)
def test_an_adapter_of_another_model_is_refused(fields: dict[str, int], tiny_folder: Path, tmp_path: Path) -> None:
    other = changed_weights(tiny_folder, tmp_path / "other", scale=0.1, **fields)
    where = save_adapter(LlamaForCausalLM.from_pretrained(other), tmp_path / "adapter")
    with pytest.raises(UserError, match="does not fit"):
        load(tiny_folder, adapter=str(where))


def test_weights_without_a_place_are_told(tiny_folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    other = changed_weights(tiny_folder, tmp_path / "other", scale=0.1, num_hidden_layers=3)
    where = save_adapter(LlamaForCausalLM.from_pretrained(other), tmp_path / "adapter")
    load(tiny_folder, adapter=str(where))
    assert "6 of its 18 weights have no place" in caplog.text


@pytest.mark.parametrize(("trained_on", "told"), [("org/OTHER", True), ("org/{}", False)], ids=["another", "the same"])
def test_the_model_that_it_was_trained_over(
    trained_on: str, told: bool, tiny_folder: Path, adapter: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    content = json.loads((adapter / "adapter_config.json").read_text(encoding="utf-8"))
    content["base_model_name_or_path"] = trained_on.format(tiny_folder.name)
    (tmp_path / "adapter_config.json").write_text(json.dumps(content), encoding="utf-8")
    load_tokenizer(ModelConfig(pretrained=str(tiny_folder), adapter=str(tmp_path)))
    assert ("was trained over org/OTHER" in caplog.text) is told
