"""The ids that are scored for a choice, with a tokenizer that has one id for "A" and another for " A"."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from hydra_eval.config.schema import ModelConfig
from hydra_eval.instances import identified, requests_of
from hydra_eval.models.chat import chat_renderer
from hydra_eval.models.encoding import encode_pairs, encoder_of
from hydra_eval.prompts.render import render_prompt
from hydra_eval.prompts.style import Style

from ..toys import COLOURS, docs_of, toy_task

WORDS = ("?", "<s>", "</s>", " ", "\n", "Answer", ":", "<user>", "<bot>", "A", " A", "  A", "B", " B", "  B")
TEMPLATE = (
    "{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}<bot>\n{% endif %}"
)


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    core = Tokenizer(models.WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="?"))
    core.pre_tokenizer = pre_tokenizers.Split(Regex(r"<\w+>| *\w+|\W"), "isolated")
    core.decoder = decoders.Fuse()
    made = PreTrainedTokenizerFast(tokenizer_object=core, bos_token="<s>", eos_token="</s>", unk_token="?")
    made.chat_template = TEMPLATE
    return made


def words(tokenizer: Any, text: str, space: str, *, chat: bool, pairs: str) -> list[tuple[list[str], list[str]]]:
    """(last word of the context, scored words) of each choice of a task that asks `text`."""
    template = replace(toy_task().template, text=lambda row: text, choices=lambda row: ["A", "B"])
    task, doc = toy_task(template=template), docs_of(COLOURS)[0]
    style = Style(chat=chat_renderer(tokenizer, True, {}) if chat else None)
    asked = requests_of(task, doc, render_prompt(task, doc, [], style), chat=chat, choice_space=space)
    encoder = encoder_of(ModelConfig(pair_tokenization=pairs), tokenizer, 64)
    encoded = encode_pairs(identified(task, doc, asked), encoder)
    return [([WORDS[i] for i in context[-1:]], [WORDS[i] for i in target]) for context, target in encoded]


@pytest.mark.parametrize("pairs", ["joint", "separate"])
@pytest.mark.parametrize("text", ["Answer:", "Answer: "])
@pytest.mark.parametrize(
    ("chat", "space", "last", "scored"),
    [
        (False, "strip", ":", " A"),
        (False, "add", ":", " A"),
        (True, "strip", "\n", "A"),
        (True, "add", "\n", " A"),
    ],
)
def test_one_id_whatever_blanks_the_task_writes(
    chat: bool, space: str, last: str, scored: str, text: str, pairs: str, tokenizer: Any
) -> None:
    expected = [([last], [scored]), ([last], [scored.replace("A", "B")])]
    assert words(tokenizer, text, space, chat=chat, pairs=pairs) == expected


@pytest.mark.parametrize(
    ("chat", "text", "last", "scored"),
    [
        (False, "Answer:", ":", [" A"]),
        (False, "Answer: ", ":", ["  A"]),
        (True, "Answer:", "<bot>", ["\n", "A"]),
    ],
)
def test_by_default_the_ids_are_lm_evals(chat: bool, text: str, last: str, scored: list[str], tokenizer: Any) -> None:
    assert words(tokenizer, text, "keep", chat=chat, pairs="joint")[0] == ([last], scored)


@pytest.mark.parity
@pytest.mark.parametrize("context", ["Answer:", "Answer: ", "<user>Answer:\n<bot>\n"], ids=["bare", "blank", "chat"])
def test_lm_evals_own_ids(context: str, tokenizer: Any) -> None:
    base = pytest.importorskip("lm_eval.models.huggingface", reason="needs lm-evaluation-harness (extra: parity)")
    oracle = base.HFLM.__new__(base.HFLM)
    oracle.tokenizer, oracle.backend, oracle.add_bos_token, oracle.custom_prefix_token_id = tokenizer, "causal", None, 1
    continuation = "A" if context.endswith("\n") else " A"
    _, target = oracle._encode_pair(context, continuation)
    chat, text = context.startswith("<user>"), "Answer: " if context.endswith(" ") else "Answer:"
    assert words(tokenizer, text, "keep", chat=chat, pairs="joint")[0][1] == [WORDS[i] for i in target]
