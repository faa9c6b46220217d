"""Chat messages become text by the tokenizer's template, or by one the user names."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import jinja2

from hydra_eval.config.prompting import PromptConfig
from hydra_eval.errors import UserError, did_you_mean, known_names
from hydra_eval.style import Style

logger = logging.getLogger(__name__)

Messages: TypeAlias = list[dict[str, str]]
RESERVED = ("add_generation_prompt", "chat_template", "continue_final_message", "conversation", "tokenize")


def style_of(prompt: PromptConfig, tokenizer: Any) -> Style:
    """How the run words its prompts. Raises UserError for a chat template that is not there."""
    chat = chat_renderer(tokenizer, prompt.chat_template, prompt.template_args) if prompt.chat_template else None
    return Style(chat=chat, multiturn=prompt.multiturn, system=prompt.system)


def template_of(prompt: PromptConfig, tokenizer: Any) -> str | None:
    """The Jinja source that makes the run's prompts; None: plain text."""
    return select_template(tokenizer, prompt.chat_template) if prompt.chat_template else None


def chat_renderer(
    tokenizer: Any, template: bool | str, template_args: Mapping[str, Any]
) -> Callable[[Messages, bool], str]:
    """`(messages, add_generation_prompt) -> text`; without a generation prompt the last message is continued."""
    if clash := [name for name in RESERVED if name in template_args]:
        raise UserError(f"prompt.template_args: {', '.join(clash)} is set by the prompt itself; leave it out.")
    return ChatRenderer(tokenizer, select_template(tokenizer, template), template_args)


def select_template(tokenizer: Any, template: bool | str) -> str:
    """The Jinja source: the tokenizer's (`true`), one of its named ones, or a file's."""
    own = getattr(tokenizer, "chat_template", None)
    if isinstance(template, str) and not (isinstance(own, dict) and template in own):
        return _read_template(template, own)
    if not own:
        raise UserError(
            f"prompt.chat_template={template}: the tokenizer has no chat template. Give a Jinja file "
            "(prompt.chat_template=FILE), or use plain text (prompt.chat_template=false)."
        )
    if not isinstance(own, dict):
        return str(own)
    name = template if isinstance(template, str) else "default"
    if name not in own:
        raise UserError(
            "prompt.chat_template=true: the tokenizer has several templates and none named 'default'. "
            f"Give one by name: {known_names(own)}."
        )
    return str(own[name])


class ChatRenderer:
    """A template with its arguments. Templates that refuse a system message are called without it, with a warning."""

    def __init__(self, tokenizer: Any, template: str, template_args: Mapping[str, Any]) -> None:
        self.tokenizer = tokenizer
        self.template = template
        self.template_args = dict(template_args)
        self._warned = False

    def __call__(self, messages: Messages, add_generation_prompt: bool) -> str:
        try:
            return self._apply(messages, add_generation_prompt)
        except jinja2.TemplateError as error:
            rest = [message for message in messages if message["role"] != "system"]
            if len(rest) == len(messages):
                raise self._refusal(error) from error
            self._warn(error)
        try:
            return self._apply(rest, add_generation_prompt)
        except jinja2.TemplateError as error:
            raise self._refusal(error) from error

    def _apply(self, messages: Messages, add_generation_prompt: bool) -> str:
        return str(
            self.tokenizer.apply_chat_template(
                messages,
                chat_template=self.template,
                tokenize=False,
                add_generation_prompt=add_generation_prompt,
                continue_final_message=not add_generation_prompt,
                **self.template_args,
            )
        )

    def _warn(self, error: jinja2.TemplateError) -> None:
        if not self._warned:
            logger.warning("The chat template refuses these messages (%s): system messages are left out.", error)
        self._warned = True

    @staticmethod
    def _refusal(error: jinja2.TemplateError) -> UserError:
        return UserError(
            f"the chat template cannot render the prompt: {error}. Some templates want user and assistant in turn: "
            "prompt.multiturn=false puts all into one user message."
        )


def _read_template(given: str, own: Any) -> str:
    path = Path(given).expanduser()
    if path.is_file():
        return path.read_text(encoding="utf-8")
    names = own if isinstance(own, dict) else {}
    near = did_you_mean(given, names)
    templates = f"named templates: {known_names(names)}" if names else "no named templates (true takes its only one)"
    raise UserError(
        f"prompt.chat_template={given}: neither a file nor a template of the tokenizer.{near} It has {templates}."
    )
