"""Random sets of requests, whole packets of them: sharing, budgets and batches change no answer."""

from __future__ import annotations

import string
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from hydra_eval.models.engine.trees import TreeEngine
from hydra_eval.models.hf import HFModel
from hydra_eval.plan import plan_packets
from hydra_eval.records import Generation, Instance, InstanceKey, RequestKind, Response

from .building import load
from .engine.families import VOCABULARY, family

LETTERS = string.ascii_letters[: VOCABULARY - 2]
WINDOW = 96


class Kind(NamedTuple):
    """A family of models, and how its tokenizer goes about special tokens and padding."""

    family: str
    adds_bos: bool
    pads: str
    has_pad: bool


KINDS = {
    "llama, right padding, no pad token": Kind("llama", adds_bos=False, pads="right", has_pad=False),
    "gemma3, sliding window, bos, left padding": Kind("gemma3", adds_bos=True, pads="left", has_pad=True),
    "gpt2, absolute positions, no pad token": Kind("gpt2", adds_bos=False, pads="left", has_pad=False),
    "qwen2, sliding window": Kind("qwen2", adds_bos=False, pads="right", has_pad=True),
    "qwen3, bos": Kind("qwen3", adds_bos=True, pads="left", has_pad=True),
}
BUDGETS: tuple[dict[str, Any], ...] = (
    {"batch_tokens": 1},
    {"batch_tokens": 50},
    {"batch_tokens": 150, "batch_size": 3},
    {"batch_tokens": 5000},
)
GREEDY = Generation(max_new_tokens=8, stop=("b", "dc"))
SAMPLED = replace(GREEDY, do_sample=True, temperature=1.0, stop=())


def save_kind(folder: Path, kind: Kind) -> Path:
    """A token for each letter; what stands for an unknown one is `a`."""
    words = {"<s>": 0, "</s>": 1} | {letter: place for place, letter in enumerate(LETTERS, 2)}
    core = Tokenizer(models.WordLevel(words, unk_token="a"))
    core.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    core.decoder = decoders.Fuse()
    if kind.adds_bos:
        core.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    special = {"bos_token": "<s>", "eos_token": "</s>"} | ({"pad_token": "</s>"} if kind.has_pad else {})
    PreTrainedTokenizerFast(tokenizer_object=core, padding_side=kind.pads, **special).save_pretrained(folder)
    family(kind.family).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {name: save_kind(tmp_path_factory.mktemp("kind"), kind) for name, kind in KINDS.items()}


@cache
def loaded(folder: Path, budget: int | None) -> HFModel:
    """With a budget of those above; None: each request by itself."""
    fields = {"batch_size": 1, "prefix_sharing": False} if budget is None else BUDGETS[budget]
    model = load(folder, max_length=WINDOW, **fields)
    assert isinstance(model.engine, TreeEngine) is (budget is not None)
    return model


few = st.text("ab", max_size=40)
"""Two letters only: texts then share beginnings of every length."""
starts = st.text("abcd", min_size=45, max_size=90) | st.text(LETTERS, min_size=45, max_size=90) | st.just("")
"""Of contexts: long enough to be run before them, some longer than the window, or none."""
targets = st.lists(st.text("ab", min_size=1, max_size=4) | st.text(LETTERS, min_size=1, max_size=6), min_size=1)


@st.composite
def contexts(draw: st.DrawFn) -> list[str]:
    """All of them begin alike, or only some."""
    start, tails = draw(starts), draw(st.lists(few, min_size=1, max_size=6))
    is_mixed = draw(st.booleans())
    return [draw(st.sampled_from([start + tail, tail, ""])) if is_mixed else start + tail for tail in tails]


@st.composite
def scored(draw: st.DrawFn) -> list[Instance]:
    """Continuations of which some begin others, and some come twice; a few are asked without their context as well."""
    found = []
    for doc, context in enumerate(draw(contexts())):
        some = draw(targets)[:4]
        asked = [(context, text) for text in (*some, some[0][:1], some[0])] + draw(
            st.sampled_from([[], [("", some[0])]])
        )
        found += [_instance(doc, at, before, continuation=text) for at, (before, text) in enumerate(asked)]
    return found


@st.composite
def prompts(draw: st.DrawFn) -> list[Instance]:
    generation = draw(st.sampled_from([GREEDY, SAMPLED]))
    return [_instance(doc, 0, context, generation=generation) for doc, context in enumerate(draw(contexts()))]


def _instance(doc: int, request: int, context: str, **fields: Any) -> Instance:
    kind = RequestKind.GENERATE if "generation" in fields else RequestKind.LOGLIKELIHOOD
    return Instance(key=InstanceKey("toy", doc, request, 0), kind=kind, context=context, **fields)


def answers(model: HFModel, instances: Iterable[Instance], *, batch_tokens: int = 1000) -> dict[InstanceKey, Response]:
    packets = plan_packets(instances, batch_tokens=batch_tokens)
    ask = {RequestKind.GENERATE: model.generate, RequestKind.LOGLIKELIHOOD: model.loglikelihood}
    return {one.key: one for packet in packets for one in ask[packet.kind](packet)}


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=12, deadline=None, derandomize=True)
@given(instances=scored(), budget=st.sampled_from(range(len(BUDGETS))), per_packet=st.sampled_from([1, 60, 1000]))
def test_scores_are_those_of_each_request_alone(
    name: str, instances: Sequence[Instance], budget: int, per_packet: int, folders: dict[str, Path]
) -> None:
    ours = answers(loaded(folders[name], budget), instances, batch_tokens=per_packet)
    for key, alone in answers(loaded(folders[name], None), instances).items():
        assert ours[key].token_logprobs == pytest.approx(alone.token_logprobs, abs=2e-5, rel=2e-6)
        assert replace(ours[key], logprob=None, token_logprobs=()) == replace(alone, logprob=None, token_logprobs=())


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=8, deadline=None, derandomize=True)
@given(instances=prompts(), budget=st.sampled_from(range(len(BUDGETS))), per_packet=st.sampled_from([1, 1000]))
def test_replies_are_those_of_each_request_alone(
    name: str, instances: Sequence[Instance], budget: int, per_packet: int, folders: dict[str, Path]
) -> None:
    ours = answers(loaded(folders[name], budget), instances, batch_tokens=per_packet)
    assert ours == answers(loaded(folders[name], None), instances)
