from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from transformers import BertConfig, GPT2Config

from hydra_eval.config.schema import ModelConfig
from hydra_eval.errors import UserError
from hydra_eval.models import check_generations, load_model, load_tokenizer
from hydra_eval.models.source import check_device, find_max_length, find_source
from hydra_eval.records import Generation

from .asking import reply_packet, scoring_packet


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every attempt to look up a name or to connect is noted, and fails."""
    attempts: list[Any] = []

    def refuse(*arguments: Any, **_: Any) -> None:
        attempts.append(arguments)
        raise OSError("no network in this test")

    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    return attempts


def test_local_model_needs_no_network(tiny_folder: Path, no_network: list[Any]) -> None:
    config = ModelConfig(pretrained=str(tiny_folder))
    model = load_model(config, device="cpu", tokenizer=load_tokenizer(config))
    model.loglikelihood(scoring_packet([("a", " b")]))
    model.generate(reply_packet(["a"], Generation(max_new_tokens=2, stop=())))
    assert no_network == []


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "model.pretrained is not set. Give a local folder or a hub name"),
        ({"pretrained": "/no/such/folder"}, "model.pretrained=/no/such/folder: there is no such folder"),
        ({"pretrained": "./checkpoints"}, "there is no such folder"),
        ({"pretrained": "~/checkpoints-of-nobody"}, "there is no such folder"),
        ({"pretrained": "runs/7/last"}, "there is no such folder"),
        ({"pretrained": __file__}, "this is a file. Give the folder"),
        ({"pretrained": "TINY", "tokenizer": "/no/such"}, "model.tokenizer=/no/such: there is no such folder"),
        ({"pretrained": "TINY", "dtype": "float23"}, "model.dtype=float23.*Did you mean 'float"),
        ({"pretrained": "TINY", "softmax_dtype": "auto"}, "model.softmax_dtype=auto"),
        ({"pretrained": "TINY", "attn_implementation": "sdpaa"}, "Did you mean 'sdpa'.*Known: eager, "),
        ({"pretrained": "TINY", "kind": "hff"}, "model.kind: unknown model 'hff'. Did you mean 'hf'"),
        ({"pretrained": "EMPTY"}, "EMPTY: the folder could not be loaded"),
    ],
    ids=str,
)
def test_faults_are_found_without_weights_and_without_network(
    fields: dict[str, str], message: str, tiny_folder: Path, tmp_path: Path, no_network: list[Any]
) -> None:
    (tmp_path / "EMPTY").mkdir()
    places = {"TINY": str(tiny_folder), "EMPTY": str(tmp_path / "EMPTY")}
    config = ModelConfig(**{name: places.get(value, value) for name, value in fields.items()})
    with pytest.raises(UserError, match=message):
        load_tokenizer(config)
    assert no_network == []


def test_a_masked_model_is_refused_without_weights(tmp_path: Path) -> None:
    BertConfig(hidden_size=8, num_hidden_layers=1, num_attention_heads=1).save_pretrained(tmp_path)
    with pytest.raises(UserError, match="Bert is an encoder"):
        load_tokenizer(ModelConfig(pretrained=str(tmp_path)))


def test_folder_without_weights(tiny_folder: Path, tmp_path: Path) -> None:
    for file in tiny_folder.glob("*.json"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    config = ModelConfig(pretrained=str(tmp_path))
    tokenizer = load_tokenizer(config)
    with pytest.raises(UserError, match="the folder could not be loaded"):
        load_model(config, "cpu", tokenizer)


def test_unknown_argument_of_the_model(tiny_folder: Path) -> None:
    config = ModelConfig(pretrained=str(tiny_folder), kwargs={"paralellize": True})
    tokenizer = load_tokenizer(config)
    with pytest.raises(UserError, match="paralellize"):
        load_model(config, "cpu", tokenizer)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"max_new_tokens": 256}, "toy: .* window of 256"),
        ({"extra": {"num_beam": 2}}, "toy: .* Did you mean 'num_beams'"),
        ({"extra": {"num_beams": 0}}, "toy: transformers cannot generate with num_beams=0"),
        ({"extra": {"bad_words_ids": [[420]]}}, "toy: transformers cannot generate with bad_words_ids="),
    ],
    ids=str,
)
def test_generations_are_checked_without_weights(fields: dict[str, Any], message: str, tiny_folder: Path) -> None:
    config = ModelConfig(pretrained=str(tiny_folder))
    tokenizer = load_tokenizer(config)
    generation = Generation(**{"max_new_tokens": 9, "stop": (), **fields})
    with pytest.raises(UserError, match=message):
        check_generations(config, tokenizer, {"toy": generation})


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"prefix_token_id": 420}, "model.prefix_token_id=420: the model has 420 tokens; ids are 0 to 419"),
        ({"prefix_token_id": -1}, "model.prefix_token_id=-1: the model has 420 tokens"),
        ({"think_end_token": 420}, "model.think_end_token=420: the model has 420 tokens"),
    ],
    ids=str,
)
def test_ids_beyond_the_vocabulary_are_found_without_weights(
    fields: dict[str, Any], message: str, tiny_folder: Path
) -> None:
    config = ModelConfig(pretrained=str(tiny_folder), **fields)
    with pytest.raises(UserError, match=message):
        check_generations(config, load_tokenizer(config), {})


def test_the_models_own_generation_config_is_checked_without_weights(tiny_folder: Path, tmp_path: Path) -> None:
    for file in tiny_folder.iterdir():
        if file.suffix == ".json":
            (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "generation_config.json").write_text('{"repetition_penalty": -1.0}', encoding="utf-8")
    config = ModelConfig(pretrained=str(tmp_path))
    tokenizer = load_tokenizer(config)
    with pytest.raises(UserError, match=r"generation_config.json \(ValueError: `penalty` has to be"):
        check_generations(config, tokenizer, {"toy": Generation(max_new_tokens=9, stop=())})


HUB = """
import sys, time
import transformers
from hydra_eval.config.schema import ModelConfig
from hydra_eval.errors import UserError
from hydra_eval.models import load_tokenizer
start = time.monotonic()
try:
    load_tokenizer(ModelConfig(pretrained="nobody/no-such-model"))
except UserError as error:
    print(time.monotonic() - start, error, sep="\\n")
"""


def test_hub_name_without_network_fails_soon(tmp_path: Path) -> None:
    # 192.0.2.0/24 is kept free for documentation: nothing answers there.
    environment = {**os.environ, "HF_ENDPOINT": "http://192.0.2.1", "HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "0"}
    done = subprocess.run([sys.executable, "-c", HUB], env=environment, capture_output=True, text=True, check=True)
    seconds, message = done.stdout.strip().split("\n", maxsplit=1)
    assert float(seconds) < 30  # three seconds of probe and some work; the library's own retries take minutes
    assert message.startswith("model.pretrained=nobody/no-such-model: there is no such folder, it is not in the local")


def test_hub_name_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hydra_eval.models.source.go_offline_if_unreachable", lambda: False)
    assert find_source("org/name-1.5", field="model.pretrained") == "org/name-1.5"


@pytest.mark.parametrize(
    ("given", "own", "expected"),
    [
        (77, {"max_position_embeddings": 99}, 77),
        (None, {"n_positions": 98}, 98),
        (None, {}, 512),
    ],
    ids=["given", "the model's", "the tokenizer's"],
)
def test_window(given: int | None, own: dict[str, int], expected: int) -> None:
    class _Tokenizer:
        model_max_length = 512

    assert find_max_length(ModelConfig(max_length=given), _Config(own), _Tokenizer()) == expected


def test_window_of_a_nested_text_model_comes_first() -> None:
    config = _Config({"max_position_embeddings": 5, "text_config": GPT2Config(n_positions=44)})
    assert find_max_length(ModelConfig(), config, None) == 44


def test_window_where_nothing_says() -> None:
    class _Tokenizer:
        model_max_length = int(1e30)

    assert find_max_length(ModelConfig(), _Config({}), _Tokenizer()) == 2048


def test_pad_token_is_end_of_sequence_where_there_is_none(tiny_folder: Path) -> None:
    assert "pad_token" not in json.loads((tiny_folder / "tokenizer_config.json").read_text())
    assert load_tokenizer(ModelConfig(pretrained=str(tiny_folder))).pad_token_id == 1


def test_facts(tiny_folder: Path) -> None:
    config = ModelConfig(pretrained=str(tiny_folder), name="mine", dtype="bfloat16")
    facts = load_model(config, "cpu", load_tokenizer(config)).facts
    assert (facts.name, facts.source, facts.max_length) == ("mine", str(tiny_folder), 256)
    assert (facts.dtype, facts.device, facts.parameters > 0) == ("torch.bfloat16", "cpu", True)


@pytest.mark.parity
def test_facts_about_tokens_are_those_of_lm_eval(tiny: Any, oracles: dict[str, Any]) -> None:
    from lm_eval.loggers.utils import add_tokenizer_info

    expected: dict[str, Any] = {}
    add_tokenizer_info(expected, oracles["tiny"])
    assert {**tiny.facts.tokens, "max_length": tiny.facts.max_length} == expected


def test_importing_the_package_imports_no_library_of_models() -> None:
    script = "import sys, hydra_eval.models; print({'torch', 'transformers', 'huggingface_hub'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout == "set()\n"


class _Config:
    def __init__(self, fields: dict[str, Any]) -> None:
        vars(self).update(fields)


@pytest.mark.parametrize("name", ["cudaa", "cuda:99", "gpu"])
def test_a_device_that_is_not_there(name: str) -> None:
    with pytest.raises(UserError, match=f"model.device={name}: "):
        check_device(name)


@pytest.mark.parametrize("name", [None, "cpu"])
def test_a_device_that_is_there(name: str | None) -> None:
    check_device(name)
