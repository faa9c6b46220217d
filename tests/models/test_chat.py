from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from transformers import PreTrainedTokenizerBase

from hydra_eval.config.prompting import PromptConfig
from hydra_eval.errors import UserError
from hydra_eval.models.chat import chat_renderer, select_template, style_of, template_of
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
DEAF = "{% for m in messages %}{% if m['role'] != 'system' %}<{{ m['content'] }}>{% endif %}{% endfor %}"


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


@pytest.mark.parametrize(
    ("template", "rule", "text", "told"),
    [
        (NO_SYSTEM, "merge", "<Be brief.\n\nHi>", "(no system role): its text opens the first user turn."),
        (NO_SYSTEM, "drop", "<Hi>", "(no system role): its text is left out."),
        (DEAF, "merge", "<Be brief.\n\nHi>", "(its text is not shown): its text opens the first user turn."),
        (DEAF, "drop", "<Hi>", "(its text is not shown): its text is left out."),
    ],
    ids=["refuses, merge", "refuses, drop", "ignores, merge", "ignores, drop"],
)
def test_template_without_a_system_role(
    template: str,
    rule: str,
    text: str,
    told: str,
    tokenizer: Any,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    render = chat_renderer(with_templates(tokenizer, monkeypatch, template), True, {}, no_system_role=rule)
    assert [render(messages, True) for messages in ([SYSTEM, USER], [SYSTEM, USER], [USER])] == [text, text, "<Hi>"]
    expected = f"prompt.no_system_role={rule}: the tokenizer's chat template has no place for a system message {told}"
    assert [record.getMessage() for record in caplog.records] == [expected]


@pytest.mark.parametrize("template", [NO_SYSTEM, DEAF], ids=["refuses", "ignores"])
def test_template_without_a_system_role_as_an_error(
    template: str, tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    render = chat_renderer(with_templates(tokenizer, monkeypatch, template), True, {}, no_system_role="error")
    assert render([USER], True) == "<Hi>"
    with pytest.raises(UserError, match=r"prompt.no_system_role=error: .* no place for a system message .*=merge or"):
        render([SYSTEM, USER], True)


@pytest.mark.parametrize(
    ("text", "opening"),
    [("Be brief.", "Be brief.\n\n"), ("Be brief.\n", "Be brief.\n\n"), ("Be brief.\n\n\n", "Be brief.\n\n\n")],
)
def test_a_blank_line_follows_what_is_merged(
    text: str, opening: str, tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    render = chat_renderer(with_templates(tokenizer, monkeypatch, NO_SYSTEM), True, {})
    turns = [{"role": "system", "content": text}, USER, PREFIX, USER]
    assert render(turns, True) == f"<{opening}Hi><Oh><Hi>"


def test_a_system_role_that_is_there_costs_nothing(tokenizer: Any, caplog: pytest.LogCaptureFixture) -> None:
    render = chat_renderer(tokenizer, True, {}, no_system_role="error")
    assert render([SYSTEM, USER], True) == "<s>[system] Be brief.</s>\n[user] Hi</s>\n[assistant] "
    assert caplog.records == []


def test_the_system_role_is_tried_once(tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    apply = tokenizer.apply_chat_template

    def counted(turns: Any, **options: Any) -> Any:
        seen.append(turns[0]["content"])
        return apply(turns, **options)

    monkeypatch.setattr(tokenizer, "apply_chat_template", counted)
    render = chat_renderer(tokenizer, True, {})
    for _ in range(3):
        render([SYSTEM, USER], True)
    assert seen[2:] == ["Be brief."] * 3 and "Be brief." not in seen[:2]


@pytest.mark.parametrize("own", [None, "<{{ messages[0]['content'] }}>"], ids=["none", "own"])
def test_auto_takes_the_template_that_is_there(
    own: str | None, tokenizer: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    config = PromptConfig(chat_template="auto")
    with caplog.at_level(logging.INFO):
        style = style_of(config, with_templates(tokenizer, monkeypatch, own))
    assert template_of(config, tokenizer) == own
    assert (style.chat and style.speak([USER])) == (own and "<Hi>")
    told = "has a chat template: it makes the prompts" if own else "has no chat template: plain text"
    assert [record.getMessage() for record in caplog.records] == [f"prompt.chat_template=auto: the tokenizer {told}."]


def test_a_runs_style(tokenizer: Any) -> None:
    config = PromptConfig(system="SYS", multiturn=False, style="lighteval", choice_space="strip")
    style = style_of(config, tokenizer)
    assert (style.chat, style.system, style.multiturn) == (None, "SYS", False)
    assert (style.join, style.choice_space) == ("lighteval", "strip")


def test_template_that_hides_what_is_to_be_continued(tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    hides = with_templates(tokenizer, monkeypatch, "{{ messages[0]['content'] }}")
    with pytest.raises(UserError, match=r"last message 'Oh' so that it can be continued.* gen_prefix"):
        chat_renderer(hides, True, {})([USER, PREFIX], False)


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


@pytest.mark.parity
@pytest.mark.parametrize("template", [None, NO_SYSTEM, DEAF], ids=["own", "refuses", "ignores"])
@pytest.mark.parametrize("messages", [[USER], [SYSTEM, USER], [SYSTEM, USER, PREFIX]], ids=len)
def test_text_is_that_of_lm_eval(
    messages: list[dict[str, str]],
    template: str | None,
    tokenizer: Any,
    oracles: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opens = messages[-1] is not PREFIX
    if template is not None:
        with_templates(oracles["tinybos"].tokenizer, monkeypatch, template)
        with_templates(tokenizer, monkeypatch, template)
    expected = oracles["tinybos"].apply_chat_template(messages, add_generation_prompt=opens)
    assert chat_renderer(tokenizer, True, {}, no_system_role="drop")(messages, opens) == expected


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{{ 1 + 'a' }}", "the tokenizer's chat template cannot render the prompt: TypeError: unsupported operand"),
        ("{{ messages[7].content }}", "the tokenizer's chat template cannot render the prompt: UndefinedError: "),
        ("{{ messages", r"the tokenizer's chat template is no Jinja \(line 1\): .*[^.]\. Mend it"),
        ("", "the tokenizer's chat template shows nothing of a user's message"),
        ("Answer the question.", "the tokenizer's chat template shows nothing of a user's message"),
    ],
    ids=["type", "undefined", "syntax", "empty", "constant"],
)
def test_a_template_that_cannot_make_a_prompt_is_told_in_one_message(
    template: str, message: str, tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_templates(tokenizer, monkeypatch, template or " ")
    with pytest.raises(UserError, match=message):
        chat_renderer(tokenizer, True, {})([USER], True)


def test_arguments_are_named_where_a_template_fails_with_them(tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with_templates(tokenizer, monkeypatch, "{{ messages[0].content + flag }}")
    with pytest.raises(UserError, match=r"with prompt\.template_args=\{'flag': 3\}: TypeError"):
        chat_renderer(tokenizer, True, {"flag": 3})([USER], True)


def test_a_template_may_change_the_case_of_a_system_text(tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with_templates(tokenizer, monkeypatch, "{% for turn in messages %}{{ turn.content | upper }} {% endfor %}")
    assert chat_renderer(tokenizer, True, {}, no_system_role="error")([SYSTEM, USER], True).startswith("BE BRIEF.")


@pytest.mark.parametrize("messages", [[USER], [USER, PREFIX]], ids=["asked", "begun"])
def test_a_file_with_a_fault_of_its_own_is_named_without_advice_on_turns(
    messages: list[dict[str, str]], tokenizer: Any, tmp_path: Path
) -> None:
    (tmp_path / "own.jinja").write_text("{% for m in messages %}{{ m.content + (none | int(base='x')) }}{% endfor %}")
    with pytest.raises(
        UserError, match=r"the chat template /.*/own\.jinja cannot render the prompt: [A-Z]\w+: "
    ) as told:
        chat_renderer(tokenizer, str(tmp_path / "own.jinja"), {})(messages, messages[-1] is USER)
    assert not any(word in str(told.value) for word in ("multiturn", "gen_prefix", ".."))


def test_what_is_not_there_is_no_matter_of_turns(tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with_templates(tokenizer, monkeypatch, "{{ messages[0].nope.x }}")
    with pytest.raises(UserError, match=r"cannot render the prompt: UndefinedError: [^:]*\.$"):
        chat_renderer(tokenizer, True, {})([USER, PREFIX, USER], True)


@pytest.mark.parametrize("name", ["tokenize", "messages", "return_dict", "continue_final_message", "chat_template"])
def test_what_the_prompt_says_itself_is_no_argument(name: str, tokenizer: Any) -> None:
    with pytest.raises(UserError, match=f"prompt.template_args: {name} is set by the prompt itself"):
        chat_renderer(tokenizer, True, {name: 1})


def test_documents_and_tools_are_arguments_like_others(tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with_templates(tokenizer, monkeypatch, "{{ messages[0].content }} {{ tools[0].name }} {{ documents[0].title }}")
    given = {"tools": [{"name": "ruler"}], "documents": [{"title": "Lengths", "text": ""}]}
    assert chat_renderer(tokenizer, True, given)([USER], True) == "Hi ruler Lengths"
