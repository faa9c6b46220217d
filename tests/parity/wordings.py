"""Ways to word a prompt that both programs know: plain text, and turns under a chat template."""

from __future__ import annotations

from types import SimpleNamespace

from hydra_eval.models.chat import chat_renderer

from .sides import Wording

TURNS = (
    "{{ bos_token }}{% for turn in messages %}<|{{ turn['role'] }}|>\n{{ turn['content'] }}{{ eos_token }}\n"
    "{% endfor %}{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)
TRIMMED = (
    "{% for turn in messages %}{% if turn['role'] == 'system' %}{{ raise_exception('no system turns') }}{% endif %}"
    "[{{ turn['role'] }}] {{ turn['content'] | trim }} {% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}"
)
"""Trims what it is given, and refuses system turns, which both programs then leave out."""
SYSTEM = "You know the answer; say it."


def chat_wordings() -> tuple[Wording, ...]:
    """A chat template with turns and without, with a system text and without, and one that refuses system texts."""
    return (
        Wording(name="system", system=SYSTEM),
        worded("turns", TURNS),
        worded("turns, system", TURNS, system=SYSTEM),
        worded("one turn, system", TURNS, multiturn=False, system=SYSTEM),
        worded("system refused", TRIMMED, system=SYSTEM),
    )


def worded(name: str, template: str, *, multiturn: bool = True, system: str | None = None) -> Wording:
    """The same tokenizer behind lm-eval's own method and behind ours."""
    from lm_eval.models.huggingface import HFLM

    tokenizer = _tokenizer(template)
    model = SimpleNamespace(tokenizer=tokenizer, chat_template_args={})
    return Wording(
        name=name,
        theirs=lambda turns, add_generation_prompt=True: HFLM.apply_chat_template(model, turns, add_generation_prompt),
        ours=chat_renderer(tokenizer, True, {}),
        multiturn=multiturn,
        system=system,
    )


def _tokenizer(template: str) -> object:
    """It renders templates, and knows no words."""
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast

    core = Tokenizer(models.WordLevel({"?": 0}, unk_token="?"))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, bos_token="<s>", eos_token="</s>")
    tokenizer.chat_template = template
    return tokenizer
