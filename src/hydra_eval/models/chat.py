"""Chat messages become text by the tokenizer's template, or by one the user names."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import jinja2

from hydra_eval.config.prompting import PromptConfig
from hydra_eval.errors import UserError, did_you_mean, known_names
from hydra_eval.prompts.style import Style, Turns

logger = logging.getLogger(__name__)

AUTO = "auto"
RESERVED = (
    "add_generation_prompt",
    "chat_template",
    "continue_final_message",
    "conversation",
    "max_length",
    "messages",
    "padding",
    "return_assistant_tokens_mask",
    "return_dict",
    "return_tensors",
    "tokenize",
    "tokenizer_kwargs",
    "truncation",
)
"""What `apply_chat_template` is told by the prompt itself, or would give something else than text for."""
PROBE = {"role": "system", "content": "probe-of-the-system-role"}
ASKING = {"role": "user", "content": "probe-of-a-question"}
TAKEN, IGNORED, REFUSED = "taken", "ignored", "refused"
"""What a template makes of a system message."""
LOST = {"merge": "its text opens the first user turn", "drop": "its text is left out"}


def style_of(prompt: PromptConfig, tokenizer: Any) -> Style:
    """How the run words its prompts. Raises UserError for a chat template that is not there."""
    chosen = _chosen(prompt, tokenizer)
    if prompt.chat_template == AUTO:
        found = "has a chat template: it makes the prompts" if chosen else "has no chat template: plain text"
        logger.info("prompt.chat_template=auto: the tokenizer %s.", found)
    chat = None
    if chosen:
        chat = chat_renderer(tokenizer, chosen, prompt.template_args, no_system_role=prompt.no_system_role)
    return Style(
        chat=chat,
        multiturn=prompt.multiturn,
        system=prompt.system,
        join=prompt.style,
        choice_space=prompt.choice_space,
    )


def template_of(prompt: PromptConfig, tokenizer: Any) -> str | None:
    """The Jinja source that makes the run's prompts; None: plain text."""
    chosen = _chosen(prompt, tokenizer)
    return select_template(tokenizer, chosen) if chosen else None


def _chosen(prompt: PromptConfig, tokenizer: Any) -> bool | str:
    """`prompt.chat_template` with `auto` decided."""
    if prompt.chat_template != AUTO:
        return prompt.chat_template  # type: ignore[no-any-return]
    return bool(getattr(tokenizer, "chat_template", None))


def chat_renderer(
    tokenizer: Any, template: bool | str, template_args: Mapping[str, Any], *, no_system_role: str = "merge"
) -> ChatTemplate:
    """`(messages, add_generation_prompt) -> text`; without a generation prompt the last message is continued."""
    if clash := [name for name in RESERVED if name in template_args]:
        raise UserError(f"prompt.template_args: {', '.join(clash)} is set by the prompt itself; leave it out.")
    source = select_template(tokenizer, template)
    name = "the tokenizer's chat template" if template is True else f"the chat template {template}"
    return ChatTemplate(tokenizer, source, template_args, no_system_role=no_system_role, name=name)


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


class Unrenderable(Exception):
    """A template that failed on some messages, with its own error."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class ChatTemplate:
    """A template with its arguments, and what becomes of a system message that it has no place for."""

    def __init__(
        self, tokenizer: Any, template: str, template_args: Mapping[str, Any], *, no_system_role: str, name: str
    ) -> None:
        self.tokenizer = tokenizer
        self.template = template
        self.template_args = dict(template_args)
        self.no_system_role = no_system_role
        self.name = name

    def __call__(self, messages: Turns, add_generation_prompt: bool) -> str:
        if not self._shows_questions:
            raise UserError(f"{self.name} shows nothing of a user's message. Give another one.")
        if any(message["role"] == "system" for message in messages):
            messages = self._without_system(messages)
        try:
            return self._apply(messages, add_generation_prompt)
        except Unrenderable as failed:
            raise UserError(self._complaint(failed.error, messages, add_generation_prompt)) from failed

    def _complaint(self, error: Exception, messages: Turns, add_generation_prompt: bool) -> str:
        if not add_generation_prompt and self._renders(*messages):
            return (
                f"{self.name} does not show the assistant's last message {messages[-1]['content']!r} so that it "
                "can be continued. Use another template, or set the task's gen_prefix to null."
            )
        given = f", with prompt.template_args={self.template_args}" if self.template_args else ""
        said = str(error).rstrip(".")
        if isinstance(error, jinja2.TemplateSyntaxError):
            return f"{self.name} is no Jinja (line {error.lineno}): {said}. Mend it, or give another one."
        if type(error) is jinja2.TemplateError and len(messages) > 1:  # of the template's own `raise_exception`
            return (
                f"{self.name} cannot render the prompt{given}: {said}. Some templates want user and assistant in "
                "turn: prompt.multiturn=false puts all into one user message."
            )
        return f"{self.name} cannot render the prompt{given}: {type(error).__name__}: {said}."

    @cached_property
    def _shows_questions(self) -> bool:
        try:
            return _shows(self._apply([ASKING], True), ASKING)
        except Unrenderable:  # the real prompt's error tells more
            return True

    def _without_system(self, messages: Turns) -> Turns:
        """The messages as they are, where the template takes a system message."""
        if self._system_role == TAKEN:
            return messages
        rest = [message for message in messages if message["role"] != "system"]
        if self.no_system_role == "merge":
            return _merged([message["content"] for message in messages if message["role"] == "system"], rest)
        # lm-eval hands them to a template that ignores them: it may say other things where there are none.
        return rest if self._system_role == REFUSED else messages

    @cached_property
    def _system_role(self) -> str:
        """Found out once, by trying it on the first prompt with a system message; one line tells what it means."""
        found, reason = self._try_system_role()
        if found != TAKEN:
            told = f"{self.name} has no place for a system message ({reason})"
            if self.no_system_role == "error":
                raise UserError(
                    f"prompt.no_system_role=error: {told}. Give neither a system text nor a task's description, or "
                    "take another template, or prompt.no_system_role=merge or drop."
                )
            logger.warning("prompt.no_system_role=%s: %s: %s.", self.no_system_role, told, LOST[self.no_system_role])
        return found

    def _try_system_role(self) -> tuple[str, str]:
        try:
            text = self._apply([PROBE, ASKING], True)
        except Unrenderable as failed:
            return (REFUSED, str(failed.error)) if self._renders(ASKING) else (TAKEN, "")
        return (TAKEN, "") if _shows(text, PROBE) else (IGNORED, "its text is not shown")

    def _renders(self, *messages: dict[str, str]) -> bool:
        try:
            self._apply(list(messages), True)
        except Unrenderable:  # for another reason than the one looked for; the real prompt's error tells
            return False
        return True

    def _apply(self, messages: Turns, add_generation_prompt: bool) -> str:
        try:
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
        except Exception as error:  # an expression in a template may raise anything
            raise Unrenderable(error) from error


def _shows(text: str, message: Mapping[str, str]) -> bool:
    """A template may put its messages into another case."""
    return message["content"].casefold() in text.casefold()


def _merged(told: Sequence[str], turns: Turns) -> Turns:
    """The system text opens the first user turn, a blank line after it."""
    opening = "".join(_with_blank_line(text) for text in told)
    for place, turn in enumerate(turns):
        if turn["role"] == "user":
            return [*turns[:place], {"role": "user", "content": opening + turn["content"]}, *turns[place + 1 :]]
    return [{"role": "user", "content": opening}, *turns]


def _with_blank_line(text: str) -> str:
    ends = len(text) - len(text.rstrip("\n"))
    return text + "\n" * max(0, 2 - ends)


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
