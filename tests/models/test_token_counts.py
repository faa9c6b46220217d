"""A run sends hardly more tokens than it must: as it reports itself, and as others count."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from torch import nn
from torch.nn.modules.module import register_module_forward_hook
from transformers import LlamaConfig, LlamaForCausalLM

from hydra_eval.api import evaluate
from hydra_eval.models.hf import HFModel
from hydra_eval.plan import plan_packets, share_out
from hydra_eval.records import Instance
from tests.parity.conftest import DATA
from tests.parity.tiny import VOCABULARY, WINDOW, corpus, train_tokenizer
from tests.toys import data_sets_prepared_in

from .building import load
from .test_engines import choice_corpus

TASKS = Path(__file__).resolve().parents[2] / "tasks"
MOST = {"first_n": 1.10, "task": 1.20}
"""Tokens sent over the fewest possible, by strategy: the same examples for all, or some drawn for each."""


@pytest.fixture(scope="module")
def narrow_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that takes almost no time, with a tokenizer of a thousand tokens."""
    folder = tmp_path_factory.mktemp("narrow")
    train_tokenizer(corpus(TASKS), bos=False).save_pretrained(folder)
    shape = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 1}
    config = LlamaConfig(vocab_size=VOCABULARY, max_position_embeddings=WINDOW, eos_token_id=1, **shape)
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


@contextmanager
def embeddings_counted() -> Iterator[list[int]]:
    """Positions of every pass through an embedding, of whatever model."""
    seen: list[int] = []

    def count(module: nn.Module, inputs: Any, output: Any) -> None:
        if isinstance(module, nn.Embedding):
            seen.append(inputs[0].numel())

    handle = register_module_forward_hook(count)
    try:
        yield seen
    finally:
        handle.remove()


def distinct_prefixes(sequences: Iterable[Sequence[int]]) -> int:
    """Counted in the plainest way: the nodes of a tree into which all sequences go, token by token."""
    nodes: dict[tuple[int, int], int] = {}
    for sequence in sequences:
        node = 0
        for token in sequence:
            node = nodes.setdefault((node, token), len(nodes) + 1)
    return len(nodes)


def sequences_in(folder: Path) -> Iterator[list[int]]:
    """What had to be run: the last token of each request is only predicted."""
    (file,) = folder.glob("samples_*.jsonl")
    for line in file.read_text(encoding="utf-8").splitlines():
        yield from (ids[:-1] for ids in json.loads(line)["input_ids"])


@pytest.mark.parametrize("strategy", MOST)
def test_a_thousand_real_documents(
    strategy: str, narrow_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not DATA.is_dir():
        pytest.skip("needs ../shared/data: real data sets in the hub's layout")
    monkeypatch.setenv("HYDRA_EVAL_DATA_ROOT", str(DATA))
    with embeddings_counted() as while_loading:
        load(narrow_folder)
    options = ["model=hf", f"model.pretrained={narrow_folder}", "tracker=none", "limit=1000", "log_token_ids=true"]
    with embeddings_counted() as seen, data_sets_prepared_in(tmp_path / "cache"):
        results = evaluate(["arc_easy|5"], [*options, f"fewshot.strategy={strategy}"], folder=tmp_path / "run")
    assert results["n-samples"]["arc_easy"]["effective"] == 1000
    spent = results["hydra_eval"]["efficiency"]["total"]
    assert spent["forward_tokens"] == sum(seen) - sum(while_loading)
    assert spent["unique_prefix_tokens"] == distinct_prefixes(sequences_in(tmp_path / "run"))
    assert spent["forward_tokens"] <= MOST[strategy] * spent["unique_prefix_tokens"]


@pytest.fixture(scope="module")
def narrow(narrow_folder: Path) -> HFModel:
    return load(narrow_folder)


def ratio_of(model: HFModel, instances: Sequence[Instance]) -> float:
    """Tokens sent over the fewest possible, counted from outside, in the order of a rank's packets."""
    (packets,) = share_out(plan_packets(instances, batch_tokens=1024), 1)
    with embeddings_counted() as seen:
        ids = [response.input_ids[:-1] for packet in packets for response in model.loglikelihood(packet)]
    return sum(seen) / distinct_prefixes(ids)


@pytest.mark.parametrize("strategy", MOST)
def test_a_thousand_made_up_documents(strategy: str, narrow: HFModel) -> None:
    assert ratio_of(narrow, choice_corpus(1000, drawn=strategy == "task")) <= MOST[strategy]


def test_many_tasks_each_with_examples_of_its_own(narrow: HFModel) -> None:
    """More of them than prefixes are kept."""
    common = choice_corpus(40, drawn=False)
    instances = [
        replace(one, key=one.key._replace(task=f"task {number}"), context=f"Task {number}. {one.context}")
        for number in range(12)
        for one in common
    ]
    assert ratio_of(narrow, instances) <= MOST["first_n"]


@pytest.mark.parametrize("tokens", [50, 100, 400], ids=lambda tokens: f"passes of {tokens}")
def test_contexts_longer_than_a_forward_pass_are_run_once(tokens: int, narrow_folder: Path) -> None:
    model = load(narrow_folder, batch_tokens=tokens)
    assert ratio_of(model, choice_corpus(30, drawn=True, pool=1000)) <= 1.02
