from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from transformers import PreTrainedTokenizerBase

from hydra_eval.errors import UserError
from hydra_eval.models.chat import chat_renderer, select_template
from hydra_eval.models.dummy import WordTokenizer
from hydra_eval.models.hf import HFModel

SYSTEM, USER, PREFIX = (
    {"role": role, "content": content}
    for role, content in (("system", "Be brief."), ("user", "Hi"), ("assistant", "Oh"))
)
NO_SYSTEM = (
    "{% for m in messages %}{% if m['role'] == 'system' %}{{ raise_exception('no system role') }}{% endif %}"
    "<{{ m['content'] }}>{% endfor %}{{ tail }}"
)


@pytest.fixture
def tokenizer(tinybos: HFModel) -> Any:
    return tinybos.tokenizer


def with_templates(tokenizer: PreTrainedTokenizerBase, monkeypatch: pytest.MonkeyPatch, templates: Any) -> Any:
    monkeypatch.setattr(tokenizer, "chat_template", templates)
    return tokenizer


def test_tokenizers_own_template(tokenizer: Any) -> None:
    render = chat_renderer(tokenizer, True, {})
    assert render([SYSTEM, USER], True) == "<s>[system] Be brief.</s>\n[user] Hi</s>\n[assistant] "


def test_last_message_is_continued(tokenizer: Any) -> None:
    assert chat_renderer(tokenizer, True, {})([USER, PREFIX], False) == "<s>[user] Hi</s>\n[assistant] Oh"


def test_named_template(tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    several = with_templates(tokenizer, monkeypatch, {"default": "one", "terse": "{{ messages[0]['content'] }}!"})
    assert chat_renderer(several, "terse", {})([USER], True) == "Hi!"
    assert select_template(several, True) == "one"


def test_template_file_and_arguments(tokenizer: Any, tmp_path: Path) -> None:
    (tmp_path / "own.jinja").write_text("{{ messages[0]['content'] }}{{ mood }}")
    assert chat_renderer(tokenizer, str(tmp_path / "own.jinja"), {"mood": "?"})([USER], True) == "Hi?"


def test_refused_system_message_is_dropped_with_one_warning(
    tokenizer: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    render = chat_renderer(with_templates(tokenizer, monkeypatch, NO_SYSTEM), True, {})
    assert [render([SYSTEM, USER], True) for _ in range(2)] == ["<Hi>", "<Hi>"]
    assert [record.getMessage() for record in caplog.records] == [
        "The chat template refuses these messages (no system role): system messages are left out."
    ]


@pytest.mark.parametrize(
    ("templates", "given", "message"),
    [
        (None, True, "no chat template"),
        ({"terse": "a", "tools": "b"}, True, "none named 'default'. Give one by name: terse, tools"),
        ({"default": "a", "terse": "b"}, "ters", "Did you mean 'terse'.* It has named templates: default, terse"),
        ("a", "terse", "neither a file nor a template of the tokenizer. It has no named templates"),
    ],
    ids=["none", "no default", "misspelt", "one template"],
)
def test_template_that_is_not_there(
    templates: Any, given: bool | str, message: str, tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UserError, match=message):
        chat_renderer(with_templates(tokenizer, monkeypatch, templates), given, {})


def test_tokenizer_without_templates() -> None:
    with pytest.raises(UserError, match=r"prompt\.chat_template=false"):
        chat_renderer(WordTokenizer(), True, {})


def test_template_that_refuses_the_turns(tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    refuses = with_templates(tokenizer, monkeypatch, "{{ raise_exception('roles must alternate') }}")
    with pytest.raises(UserError, match=r"roles must alternate.*prompt\.multiturn=false"):
        chat_renderer(refuses, True, {})([SYSTEM, USER], True)


def test_argument_that_the_prompt_sets_itself(tokenizer: Any) -> None:
    with pytest.raises(UserError, match="tokenize"):
        chat_renderer(tokenizer, True, {"tokenize": True})


@pytest.mark.parity
@pytest.mark.parametrize("messages", [[USER], [SYSTEM, USER], [SYSTEM, USER, PREFIX]], ids=len)
def test_text_is_that_of_lm_eval(messages: list[dict[str, str]], tokenizer: Any, oracles: dict[str, Any]) -> None:
    opens = messages[-1] is not PREFIX
    expected = oracles["tinybos"].apply_chat_template(messages, add_generation_prompt=opens)
    assert chat_renderer(tokenizer, True, {})(messages, opens) == expected
