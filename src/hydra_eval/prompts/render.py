"""Task, document and examples become the text that is sent.

Semantics: lm-eval 0.4.13, `ConfigurableTask.fewshot_context`, `build_qa_turn`, `multiple_input_context`; for
`prompt.style=lighteval` lighteval 0.13, `PromptManager`, with the description as its instruction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any

from hydra_eval.errors import UserError
from hydra_eval.prompts.joins import (
    LightevalWording,
    LmEvalWording,
    Message,
    Wording,
    bare_query,
    join_with,
    needs_delimiter,
)
from hydra_eval.prompts.style import Style, Turns
from hydra_eval.records import Doc
from hydra_eval.tasks.task import Row, Task, Template


def render_prompt(task: Task, doc: Doc, shots: Sequence[Doc], style: Style) -> str | list[str]:
    """The prompt of one document; a list with one prompt per choice where the contexts differ per choice."""
    prompts = [_rendered(wording, style) for wording in _wordings(task, doc, shots, style)]
    return prompts if task.multiple_input else prompts[0]


def prompt_messages(task: Task, doc: Doc, shots: Sequence[Doc], style: Style) -> list[Turns]:
    """The same prompts as chat messages, for a model that takes those; `style.speak` makes them the prompt's text."""
    return [wording.turns(multiturn=style.multiturn) for wording in _wordings(task, doc, shots, style)]


def _rendered(wording: Wording, style: Style) -> str:
    return wording.text() if style.chat is None else style.speak(wording.turns(multiturn=style.multiturn))


def _wordings(task: Task, doc: Doc, shots: Sequence[Doc], style: Style) -> list[Wording]:
    """One, or one per choice."""
    word = JOINS[style.join](task, doc, shots, style.system)
    text = task.template.text(doc.row)
    return [word(question) for question in (_choices(task.template, doc.row) if task.multiple_input else [text])]


def _as_lm_eval(task: Task, doc: Doc, shots: Sequence[Doc], system: str | None) -> Callable[[Any], Wording]:
    told = join_with(task.template.fewshot_delimiter, system, task.description(doc.row))
    head = [Message("system", told)] if told else []
    head += [turn for shot in shots for turn in _turns(*_shown(task, shot), shot=shot, template=task.shot_template)]
    template = replace(task.template, target_delimiter="") if task.multiple_input else task.template
    return lambda question: LmEvalWording([*head, *_turns(question, None, shot=doc, template=template)])


def _as_lighteval(task: Task, doc: Doc, shots: Sequence[Doc], system: str | None) -> Callable[[Any], Wording]:
    told = task.description(doc.row)
    pairs = [_bare_pair(task, shot) for shot in shots]
    prefix = task.template.gen_prefix(doc.row)
    return lambda question: LightevalWording(
        system=system, instruction=told, shots=pairs, query=bare_query(_text(question), told), prefix=prefix
    )


JOINS = {"lm_eval": _as_lm_eval, "lighteval": _as_lighteval}
"""`prompt.style` → (task, document, examples, system text) → what words one question."""


def _bare_pair(task: Task, shot: Doc) -> tuple[str, str | None]:
    question, answer = _shown(task, shot)
    if answer is not None:
        answer = join_with(" ", task.shot_template.gen_prefix(shot.row), answer)
    return bare_query(_text(question), task.description(shot.row)), answer


def _shown(task: Task, shot: Doc) -> tuple[Any, str | None]:
    """An example: its question and its answer."""
    template = task.shot_template
    question, target = template.text(shot.row), template.target(shot.row)
    if task.multiple_input:
        question = _chosen(template, question, shot)
    elif template.choices is not None and isinstance(first := _first(target), Integral):
        target = [_chosen(template, first, shot)]
    return question, _answer(target, task.source)


def _first(target: Any) -> Any:
    """Of several right answers the first is shown."""
    return target[0] if isinstance(target, list) and target else target


def _answer(target: Any, file: str) -> str | None:
    """The text of an example's target, the first of several. A target of "" leaves the bare question: None."""
    answer = _first(target)
    if answer is target and (answer is None or answer == ""):
        return None
    if not isinstance(answer, str):
        raise UserError(
            f"{file}: doc_to_target of an example must give text, or an index where there are choices, "
            f"but gave {answer!r}."
        )
    return answer


def _turns(question: Any, answer: str | None, *, shot: Doc, template: Template) -> list[Message]:
    text, prefix = _text(question), template.gen_prefix(shot.row)
    delimited = needs_delimiter(text, prefix) if prefix else answer is not None
    user = Message("user", text, template.target_delimiter if delimited else "")
    if answer is not None:
        return [user, Message("assistant", join_with(" ", prefix, answer), template.fewshot_delimiter)]
    return [user, Message("assistant", prefix)] if prefix else [user]


def _text(question: Any) -> str:
    if not isinstance(question, str):
        raise UserError(f"doc_to_text must give text, but gave {question!r}.")
    return question


def _choices(template: Template, row: Row) -> list[str]:
    assert template.choices is not None
    return template.choices(row)


def _chosen(template: Template, index: Any, shot: Doc) -> str:
    choices = _choices(template, shot.row)
    if not isinstance(index, Integral) or not -len(choices) <= int(index) < len(choices):
        raise UserError(f"example {shot.index}: its target is choice {index!r}, but there are {len(choices)} choices.")
    return choices[int(index)]
