"""Task, document and examples become the text that is sent.

Semantics: lm-eval 0.4.13, `ConfigurableTask.fewshot_context`, `build_qa_turn`, `multiple_input_context`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

from hydra_eval.errors import UserError
from hydra_eval.records import Doc
from hydra_eval.style import Style
from hydra_eval.tasks.task import Row, Task, Template


@dataclass(frozen=True, slots=True)
class Message:
    """One turn. `delimiter` stands after it in plain text only."""

    role: str
    content: str
    delimiter: str = ""


def render_prompt(task: Task, doc: Doc, shots: Sequence[Doc], style: Style) -> str | list[str]:
    """The prompt of one document; a list with one prompt per choice where the contexts differ per choice."""
    head = _system(task, doc, style) + [turn for shot in shots for turn in _shot_turns(task, shot)]
    prefix = task.template.gen_prefix(doc.row)
    text = task.template.text(doc.row)
    if not task.multiple_input:
        turns = _turns(text, None, prefix=prefix, template=task.template)
        return _as_text([*head, *turns], style, continues=bool(prefix))
    undelimited = replace(task.template, target_delimiter="")
    return [
        _as_text([*head, *_turns(choice, None, prefix=prefix, template=undelimited)], style, bool(prefix))
        for choice in _choices(task.template, doc.row)
    ]


def join_with(delimiter: str, first: str | None, second: str | None) -> str:
    """Both parts, with the delimiter between them only where neither has white space at the seam."""
    if not first or not second:
        return first or second or ""
    return first + (delimiter if needs_delimiter(first, second) else "") + second


def needs_delimiter(first: str, second: str) -> bool:
    return bool(first) and not (first[-1].isspace() or second[0].isspace())


def _system(task: Task, doc: Doc, style: Style) -> list[Message]:
    text = join_with(task.template.fewshot_delimiter, style.system, task.description(doc.row))
    return [Message("system", text)] if text else []


def _shot_turns(task: Task, shot: Doc) -> list[Message]:
    """An example: its question and its answer."""
    template = task.shot_template
    question, target = template.text(shot.row), template.target(shot.row)
    if task.multiple_input:
        question = _chosen(template, question, shot)
    elif template.choices is not None and isinstance(target, Integral):
        target = [_chosen(template, target, shot)]
    return _turns(question, _answer(target), prefix=template.gen_prefix(shot.row), template=template)


def _answer(target: Any) -> str | None:
    """The text of an example's target, the first of several. A target of "" leaves the bare question: None."""
    answer = (target[0] if target else target) if isinstance(target, list) else target
    if answer is target and (answer is None or answer == ""):
        return None
    if not isinstance(answer, str):
        raise UserError(f"doc_to_target of an example must give text or a choice's index, but gave {answer!r}.")
    return answer


def _turns(question: Any, answer: str | None, *, prefix: str | None, template: Template) -> list[Message]:
    if not isinstance(question, str):
        raise UserError(f"doc_to_text must give text, but gave {question!r}.")
    delimited = needs_delimiter(question, prefix) if prefix else answer is not None
    user = Message("user", question, template.target_delimiter if delimited else "")
    if answer is not None:
        return [user, Message("assistant", join_with(" ", prefix, answer), template.fewshot_delimiter)]
    return [user, Message("assistant", prefix)] if prefix else [user]


def _choices(template: Template, row: Row) -> list[str]:
    assert template.choices is not None
    return template.choices(row)


def _chosen(template: Template, index: Any, shot: Doc) -> str:
    choices = _choices(template, shot.row)
    if not isinstance(index, Integral) or not -len(choices) <= int(index) < len(choices):
        raise UserError(f"example {shot.index}: its target is choice {index!r}, but there are {len(choices)} choices.")
    return choices[int(index)]


def _as_text(messages: list[Message], style: Style, continues: bool) -> str:
    if style.chat is None:
        return "".join(message.content + message.delimiter for message in messages)
    turns = messages if style.multiturn else _as_one_turn(messages)
    return style.chat([{"role": turn.role, "content": turn.content} for turn in turns], not continues)


def _as_one_turn(messages: list[Message]) -> list[Message]:
    """All turns between the system message and a last assistant prefix as one user turn, delimiters kept inside."""
    system = messages[:1] if messages[0].role == "system" else []
    turns = messages[len(system) :]
    tail = turns[-1:] if turns[-1].role == "assistant" else []
    turns = turns[: len(turns) - len(tail)]
    text = "".join(turn.content + turn.delimiter for turn in turns[:-1]) + turns[-1].content
    return [*system, Message("user", text), *tail]
