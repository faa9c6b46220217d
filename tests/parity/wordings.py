"""Ways to word a prompt that both programs know: plain text, and turns under a chat template."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from hydra_eval.models.chat import chat_renderer

from .sides import PLAIN, Wording

TURNS = (
    "{{ bos_token }}{% for turn in messages %}<|{{ turn['role'] }}|>\n{{ turn['content'] }}{{ eos_token }}\n"
    "{% endfor %}{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)
"""Writes BOS itself."""
TRIMMED = (
    "{% for turn in messages %}{% if turn['role'] == 'system' %}{{ raise_exception('no system turns') }}{% endif %}"
    "[{{ turn['role'] }}] {{ turn['content'] | trim }} {% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}"
)
"""Trims what it is given, and refuses system turns, which both programs then leave out."""
SYSTEM = "You know the answer; say it."


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """Keys over a task's file, for both programs."""

    name: str = ""
    keys: Mapping[str, Any] = field(default_factory=dict)


OWN = Variant()
"""The file as it is."""
VARIANTS = (
    OWN,
    Variant(name="description", keys={"description": "Some questions follow. Each has one answer.\n\n"}),
    Variant(name="prefix", keys={"gen_prefix": "I would say:"}),
    Variant(name="description, prefix", keys={"description": "Think, then answer.", "gen_prefix": "So this is it: "}),
)
"""Delimiters depend on white space at the seams: each text comes with it and without."""


def chat_wordings(tokenizer: Path | None = None) -> tuple[Wording, ...]:
    """A chat template with turns and without, with a system text and without, and one that refuses system texts.

    `tokenizer`: a folder whose template makes the turns; where it has none, and without a folder, it is `TURNS`.
    """
    return (
        Wording(name="system", system=SYSTEM),
        worded("turns", folder=tokenizer),
        worded("turns, system", folder=tokenizer, system=SYSTEM),
        worded("one turn", folder=tokenizer, multiturn=False),
        worded("one turn, system", folder=tokenizer, multiturn=False, system=SYSTEM),
        worded("system refused", TRIMMED, folder=tokenizer, system=SYSTEM),
    )


def few_wordings() -> tuple[Wording, ...]:
    """Those that show most, for many tasks."""
    named = {wording.name: wording for wording in (PLAIN, *chat_wordings())}
    return tuple(named[name] for name in ("plain", "turns, system", "one turn, system"))


def worded(
    name: str,
    template: str | None = None,
    *,
    folder: Path | None = None,
    multiturn: bool = True,
    system: str | None = None,
) -> Wording:
    """The same tokenizer behind lm-eval's own method and behind ours; `template` in place of its own."""
    from lm_eval.models.huggingface import HFLM

    tokenizer = _tokenizer(folder)
    tokenizer.chat_template = template or tokenizer.chat_template or TURNS
    model = SimpleNamespace(tokenizer=tokenizer, chat_template_args={})
    return Wording(
        name=name,
        theirs=lambda turns, add_generation_prompt=True: HFLM.apply_chat_template(model, turns, add_generation_prompt),
        ours=chat_renderer(tokenizer, True, {}, no_system_role="drop"),
        multiturn=multiturn,
        system=system,
    )


def _tokenizer(folder: Path | None) -> Any:
    """That of a folder, or one that renders templates and knows no words."""
    from tokenizers import Tokenizer, models
    from transformers import AutoTokenizer, PreTrainedTokenizerFast

    if folder is not None:
        return AutoTokenizer.from_pretrained(folder)
    core = Tokenizer(models.WordLevel({"?": 0}, unk_token="?"))
    return PreTrainedTokenizerFast(tokenizer_object=core, bos_token="<s>", eos_token="</s>")
