"""Texts scored as a whole, window by window: to the numbers that a run reports, with and without sharing."""

from __future__ import annotations

import json
import math
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch

from hydra_eval.api import evaluate
from hydra_eval.models.hf import HFModel
from tests.toys import data_sets_prepared_in

from .asking import rolling_packet
from .building import load, save_rigged, successor_logits, uniform_logits

LN8 = math.log(8)
TEXT = "abcd efgha"
"""Ten letters, ten tokens, two words."""
LETTERS = "".join(Random(0).choices("xqzjvkwy", k=40))
"""Rare in TINY's corpus, so that each is a token."""
TASK = {
    "task": "texts",
    "output_type": "loglikelihood_rolling",
    "dataset_path": "json",
    "test_split": "test",
    "doc_to_text": "",
    "doc_to_target": "{{text}}",
    "metric_list": [{"metric": name} for name in ("word_perplexity", "byte_perplexity", "bits_per_byte")],
}


@pytest.fixture(params=[True, False], ids=["shared", "alone"])
def sharing(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture(scope="module")
def uniform8(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_rigged(tmp_path_factory.mktemp("uniform8"), uniform_logits(8))


@pytest.fixture(scope="module")
def counting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_rigged(tmp_path_factory.mktemp("counting"), successor_logits(24))


def scores_of(texts: list[str], folder: Path, model: Path, **fields: Any) -> dict[str, float]:
    """What the run reports of these documents."""
    file = folder / "texts.jsonl"
    file.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="utf-8")
    content = TASK | {"dataset_kwargs": {"data_files": {"test": str(file)}}}
    options = [f"model.{name}={value}" for name, value in {"pretrained": model, **fields}.items()]
    with data_sets_prepared_in(folder / "cache"):
        found = evaluate([content], ["model=hf", "tracker=none", *options], folder=folder / "run")
    return {name.removesuffix(",none"): value for name, value in found["results"]["texts"].items()}


@pytest.mark.parametrize("window", [64, 4])
def test_a_uniform_model_has_the_perplexities_that_it_must(
    window: int, sharing: bool, uniform8: Path, tmp_path: Path
) -> None:
    found = scores_of([TEXT] * 3, tmp_path, uniform8, max_length=window, prefix_sharing=sharing)
    assert found["bits_per_byte"] == pytest.approx(3, rel=1e-5)
    assert found["byte_perplexity"] == pytest.approx(8, rel=1e-5)
    assert found["word_perplexity"] == pytest.approx(32768, rel=1e-4)


def test_an_empty_text_weighs_nothing_in_bits_per_byte(sharing: bool, uniform8: Path, tmp_path: Path) -> None:
    found = scores_of(["", TEXT], tmp_path, uniform8, prefix_sharing=sharing)
    assert found["bits_per_byte"] == pytest.approx(3, rel=1e-5) and found["sample_len"] == 2


@pytest.mark.parametrize("window", [64, 4])
def test_ten_tokens_cost_ten_times_ln_8(window: int, sharing: bool, uniform8: Path) -> None:
    (found,) = load(uniform8, max_length=window, prefix_sharing=sharing).loglikelihood(rolling_packet([TEXT]))
    assert found.logprob == pytest.approx(-20.794, abs=1e-3)
    assert math.exp(-found.logprob / found.output_tokens) == pytest.approx(8, rel=1e-5)
    assert found.token_logprobs == pytest.approx([-LN8] * 10, abs=1e-5)


@pytest.mark.parametrize("window", [64, 4])
def test_what_follows_by_itself_costs_nothing(window: int, sharing: bool, counting: Path) -> None:
    """`a` has id 2 and follows the end of sequence, which has id 1 and stands before the text here."""
    model = load(counting, max_length=window, prefix_token_id=1, prefix_sharing=sharing)
    (found,) = model.loglikelihood(rolling_packet(["abcdefghij"]))
    assert found.token_logprobs == pytest.approx([0] * 10, abs=1e-5)


def by_hand(model: HFModel, text: str, window: int) -> list[float]:
    """Each token's log-probability: as many as the window holds at a time, with as much before them as fits."""
    ids = [0, *model.tokenizer(text)["input_ids"]]
    found: list[float] = []
    for end in range(1 + window, len(ids) + window, window):
        last = min(end, len(ids))
        inputs = ids[max(0, last - 1 - window) : last - 1]
        logits = model.model(torch.tensor([inputs])).logits[0]
        scores = logits.double().log_softmax(dim=-1)[range(len(inputs)), ids[last - len(inputs) : last]].tolist()
        found += scores[len(found) + 1 - last :]
    return found


@pytest.mark.parametrize("letters", [0, 1, 7, 8, 9, 15, 16, 17, 40], ids=lambda letters: f"{letters} letters")
def test_windows_meet_without_a_gap(letters: int, sharing: bool, tiny_folder: Path) -> None:
    """A window of eight: shorter texts, just as long ones, and one token more."""
    model = load(tiny_folder, max_length=8, prefix_sharing=sharing)
    (found,) = model.loglikelihood(rolling_packet([LETTERS[:letters]]))
    assert len(found.token_logprobs) == letters
    with torch.inference_mode():
        assert found.token_logprobs == pytest.approx(by_hand(model, LETTERS[:letters], 8), abs=1e-5, rel=2e-6)


def test_texts_that_begin_alike_share_their_windows(tiny_folder: Path) -> None:
    model = load(tiny_folder, max_length=8)
    model.loglikelihood(rolling_packet([LETTERS, LETTERS[:32] + "qqqq"]))
    # Four windows are the same, then each text has one of its own; by chance some of them begin alike.
    assert 8 * 5 < model.efficiency["loglikelihood_rolling"].forward_tokens <= 8 * 6
