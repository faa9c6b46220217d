"""Packets with and without what they share, down to the tokens sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from hydra_eval.models.encoding import Ids, shared_start
from hydra_eval.models.engine.trees import TreeEngine
from hydra_eval.models.hf import HFModel
from hydra_eval.models.plain import PlainEngine
from hydra_eval.plan import plan_packets
from hydra_eval.records import Generation, Instance, InstanceKey, RequestKind

from .asking import reply_packet, scoring_packet
from .building import load

WORDS = ["water", "stone", "coin", "cork", "hens", "legs", "ferry", "harbour", "market", "pears", "loaf", "brother"]
SHOTS = 5


@pytest.fixture(scope="module")
def plain(tiny_folder: Path) -> HFModel:
    return load(tiny_folder, max_length=1000, prefix_sharing=False)


@pytest.fixture(scope="module")
def trees(tiny_folder: Path) -> HFModel:
    return load(tiny_folder, max_length=1000)


def words(random: Random, least: int, most: int) -> str:
    return " ".join(random.choices(WORDS, k=random.randint(least, most)))


def choice_corpus(documents: int, *, drawn: bool, shots: int = SHOTS, pool: int = 60) -> list[Instance]:
    """Questions of about fifteen tokens with four choices, behind examples that are the same or drawn for each."""
    random = Random(0)
    examples = [f"Question: {words(random, 6, 12)}?\nAnswer: {words(random, 1, 4)}\n\n" for _ in range(pool)]
    found = []
    for doc in range(documents):
        shown = "".join(random.sample(examples, shots) if drawn else examples[:shots])
        context = f"{shown}Question: {words(random, 6, 12)}?\nAnswer:"
        found += [
            Instance(
                key=InstanceKey("toy", doc, request, 0),
                kind=RequestKind.LOGLIKELIHOOD,
                context=context,
                continuation=" " + words(random, 1, 4),
            )
            for request in range(4)
        ]
    return found


def run_all(model: HFModel, instances: Sequence[Instance]) -> tuple[dict[InstanceKey, Any], float]:
    """(responses by request, tokens sent over the fewest possible)."""
    kind, counters = "loglikelihood", type(model.efficiency["loglikelihood"])
    model.efficiency[kind] = counters()
    packets = plan_packets(instances, batch_tokens=1024)
    found = {one.key: one for packet in packets for one in model.loglikelihood(packet)}
    figures = model.efficiency[kind].figures()
    return found, figures["forward_tokens"] / figures["unique_prefix_tokens"]


@pytest.mark.parametrize("drawn", [False, True], ids=["fixed shots", "drawn shots"])
def test_sharing_changes_no_answer(drawn: bool, trees: HFModel, plain: HFModel) -> None:
    instances = choice_corpus(8, drawn=drawn, shots=2)
    (ours, less), (theirs, more) = run_all(trees, instances), run_all(plain, instances)
    assert less < more / 2
    for key, response in theirs.items():
        assert ours[key].logprob == pytest.approx(response.logprob, abs=1e-4, rel=2e-6)
        assert replace(ours[key], logprob=None, token_logprobs=()) == replace(response, logprob=None, token_logprobs=())


def test_the_switch_and_its_reason_are_told(plain: HFModel, trees: HFModel) -> None:
    assert isinstance(plain.engine, PlainEngine) and isinstance(trees.engine, TreeEngine)
    assert plain.facts.engine == {"prefix_sharing": "model.prefix_sharing=false", "batch_tokens": 1024}
    assert trees.facts.engine == {"prefix_sharing": True, "batch_tokens": 1024}


def test_a_model_that_cannot_share_says_so_once(tiny_folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO"):
        load(tiny_folder, prefix_sharing=False)
    (line,) = [record.getMessage() for record in caplog.records if "runs plainly" in record.getMessage()]
    assert line == "LlamaForCausalLM runs plainly, each request by itself: model.prefix_sharing=false."


@pytest.mark.parametrize("side", ["left", "right"])
def test_padding_side_and_pad_token_do_not_matter(side: str, tiny_folder: Path, trees: HFModel) -> None:
    model = load(tiny_folder, max_length=1000)
    model.tokenizer.padding_side = side
    model.tokenizer.pad_token_id = 1 if side == "left" else 7
    packet = scoring_packet((one.context, one.continuation or "") for one in choice_corpus(3, drawn=True, shots=1))
    replies = reply_packet([one.context for one in choice_corpus(3, drawn=True, shots=1)], REPLY)
    assert model.loglikelihood(packet) == trees.loglikelihood(packet)
    assert model.generate(replies) == trees.generate(replies)


REPLY = Generation(max_new_tokens=12, stop=("e", "\n\n"))
SAMPLED = Generation(max_new_tokens=12, stop=("q",), do_sample=True, temperature=1.0)


@pytest.mark.parametrize("generation", [REPLY, SAMPLED], ids=["greedy", "sampled"])
@pytest.mark.parametrize("shared", [True, False], ids=["prefix", "no prefix"])
def test_replies_are_those_of_the_plain_path(
    generation: Generation, shared: bool, trees: HFModel, plain: HFModel
) -> None:
    contexts = [one.context for one in choice_corpus(5, drawn=False, shots=2)[::4]]
    start = contexts[0][: contexts[0].rindex("Question")] if shared else ""
    packet = replace(reply_packet([*contexts, "The ferry"], generation, repeats=2), prefix=start)
    assert trees.generate(packet) == plain.generate(packet)


def test_a_shared_start_leaves_out_its_last_tokens(trees: HFModel) -> None:
    text = "The ferry leaves at nine and comes back at noon; the last one leaves the harbour at seven. " * 3
    whole = trees.encoder.encode([text])[text]
    assert shared_start(text, trees.encoder) == whole[:-8] and len(whole) > 40
    none: Ids = ()
    assert shared_start("The ferry leaves", trees.encoder) == shared_start("", trees.encoder) == none
