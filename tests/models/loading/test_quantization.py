from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM, BitsAndBytesConfig, QuantoConfig

from ..building import load
from .asked import changed_weights, refused, scores

FOUR_BITS = {"load_in_4bit": True, "bnb_4bit_quant_type": "nf4"}
INT8 = {"quant_method": "quanto", "weights": "int8"}


@pytest.fixture(scope="module")
def even_folder(tiny_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of sizes that kernels for few bits take."""
    return changed_weights(
        tiny_folder, tmp_path_factory.mktemp("even"), scale=0.3, hidden_size=64, head_dim=16, intermediate_size=128
    )


@pytest.mark.parametrize(
    ("quantization", "message"),
    [
        ({"load_in_5bit": True}, "which method.*Did you mean 'load_in_.bit'"),
        ({"quant_method": "bitandbytes"}, "unknown quantization method 'bitandbytes'. Did you mean 'bitsandbytes'"),
        ({"quant_method": "bitsandbytes"}, "say load_in_4bit: true or load_in_8bit: true"),
        ({"quant_method": "gptq", "load_in_4bit": True}, "belong to bitsandbytes, not to gptq"),
        ({"load_in_4bit": True, "load_in_8bit": True}, "only one can be used"),
        ({"load_in_4bit": True, "bnb_4bit_quant_typ": "nf4"}, "Did you mean 'bnb_4bit_quant_type'.*Known: bnb_4bit_"),
        ({"load_in_4bit": True, "bnb_4bit_compute_dtype": "float23"}, "float23"),
        ({"quant_method": "quanto", "weights": "int9"}, "quanto does not take .*int9"),
        ({"quant_method": "awq"}, "require the model to be pre-quantized"),
    ],
    ids=str,
)
def test_what_no_method_knows_is_refused(quantization: dict[str, Any], message: str, tiny_folder: Path) -> None:
    refused(tiny_folder, message, quantization=quantization)


@pytest.mark.parametrize(
    ("package", "quantization"),
    [("bitsandbytes", FOUR_BITS), ("bitsandbytes", {"load_in_8bit": True}), ("optimum-quanto", INT8)],
    ids=["4 bits", "8 bits", "quanto"],
)
def test_the_package_that_is_missing_is_named(package: str, quantization: dict[str, Any], tiny_folder: Path) -> None:
    if find_spec(package.partition("-")[0]) is not None:
        pytest.skip(f"{package} is installed")
    refused(tiny_folder, f"pip install .*{package}", quantization=quantization)


def test_a_method_that_cannot_run_here_is_refused(tiny_folder: Path) -> None:
    if torch.cuda.is_available():
        pytest.skip("runs on a GPU")
    refused(tiny_folder, "GPU", quantization={"quant_method": "fp8"})


@pytest.mark.parametrize(
    ("package", "quantization", "made"),
    [
        ("bitsandbytes", FOUR_BITS, lambda: BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4")),
        ("optimum.quanto", INT8, lambda: QuantoConfig(weights="int8")),
    ],
    ids=["bitsandbytes", "quanto"],
)
def test_quantised_weights_run(package: str, quantization: dict[str, Any], made: Any, even_folder: Path) -> None:
    pytest.importorskip(package, reason="needs the package")
    model = load(even_folder, quantization=quantization)
    theirs = AutoModelForCausalLM.from_pretrained(even_folder, quantization_config=made())
    ids = torch.arange(2, 30)[None]
    with torch.inference_mode():
        torch.testing.assert_close(model.model(ids).logits, theirs(ids).logits, rtol=0, atol=0)
    assert scores(model) != pytest.approx(scores(load(even_folder)), abs=1e-3)
    assert model.facts.loading["quantization"].items() >= quantization.items()


@pytest.mark.parametrize(
    ("package", "quantization"), [("bitsandbytes", FOUR_BITS), ("optimum.quanto", INT8)], ids=["bitsandbytes", "quanto"]
)
def test_prefixes_of_quantised_weights_are_shared(
    package: str, quantization: dict[str, Any], even_folder: Path
) -> None:
    pytest.importorskip(package, reason="needs the package")
    trees = load(even_folder, quantization=quantization)
    assert trees.facts.engine["prefix_sharing"] is True
    plain = load(even_folder, quantization=quantization, prefix_sharing=False)
    assert scores(trees) == pytest.approx(scores(plain), abs=1e-3)


def test_a_checkpoint_that_was_saved_in_four_bits_just_loads(even_folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("bitsandbytes", reason="needs the package")
    made = load(even_folder, quantization=FOUR_BITS)
    made.model.save_pretrained(tmp_path)
    made.tokenizer.save_pretrained(tmp_path)
    saved = load(tmp_path)
    assert saved.facts.loading["quantization"]["load_in_4bit"] is True
    assert scores(saved) == scores(made)


def test_a_saved_checkpoint_names_the_package_too(tiny_folder: Path, tmp_path: Path) -> None:
    if find_spec("compressed_tensors") is not None:
        pytest.skip("compressed-tensors is installed")
    for file in tiny_folder.glob("*.json"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    content = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
    content["quantization_config"] = {"quant_method": "compressed-tensors", "format": "dense"}
    (tmp_path / "config.json").write_text(json.dumps(content), encoding="utf-8")
    refused(tmp_path, "model.pretrained=.*pip install compressed-tensors")
