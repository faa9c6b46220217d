"""A document with its prompt becomes the requests that are sent to the model.

Semantics: lm-eval 0.4.13, `ConfigurableTask.construct_requests`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hydra_eval.errors import UserError
from hydra_eval.prompts.choice_space import choice_request
from hydra_eval.records import Doc, Instance, InstanceKey, Request, RequestKind
from hydra_eval.tasks.task import Task

KINDS = {
    "multiple_choice": RequestKind.LOGLIKELIHOOD,
    "loglikelihood": RequestKind.LOGLIKELIHOOD,
    "loglikelihood_rolling": RequestKind.ROLLING,
    "generate_until": RequestKind.GENERATE,
}


def make_instances(task: Task, doc: Doc, prompt: str | list[str], *, chat: bool) -> list[Instance]:
    """Every request of one document, as its task's output type asks it."""
    return identified(task, doc, requests_of(task, doc, prompt, chat=chat))


def identified(task: Task, doc: Doc, requests: Sequence[Request]) -> list[Instance]:
    """Requests with their identity, in request order, repeats side by side."""
    return [
        _instance(InstanceKey(task.name, doc.index, index, repeat), request)
        for index, request in enumerate(requests)
        for repeat in range(request.repeats or task.repeats)
    ]


def requests_of(
    task: Task, doc: Doc, prompt: str | list[str], *, chat: bool, choice_space: str = "keep"
) -> list[Request]:
    """What a task asks about one document, by its output type. `choice_space` is for choices alone."""
    if task.output_type == "multiple_choice" and choice_space != "keep":
        return _spaced_choices(task, doc, prompt, chat=chat, space=choice_space)
    kind = KINDS[task.output_type]
    return [
        Request(kind=kind, arguments=arguments, generation=task.generation)
        for arguments in request_arguments(task, doc, prompt, chat=chat)
    ]


def request_arguments(task: Task, doc: Doc, prompt: str | list[str], *, chat: bool) -> list[tuple[Any, ...]]:
    """The requests as lm-eval writes them: (context, continuation), (text,) or (context, generation_kwargs)."""
    if task.output_type == "generate_until":
        return [(prompt, dict(task.generation_kwargs or {}))]
    if task.output_type == "loglikelihood_rolling":
        return [(_text(task.template.target(doc.row)),)]
    if task.output_type == "loglikelihood":
        return [(prompt, _text(task.template.target(doc.row)))]
    delimiter = choice_delimiter(task, chat=chat)
    return [(context, f"{delimiter}{text}") for context, text in _choice_pairs(task, doc, prompt)]


def _choice_pairs(task: Task, doc: Doc, prompt: str | list[str]) -> list[tuple[str, str]]:
    """(context, text to score after it) of every request; last the choices alone, where a metric asks for those."""
    choices = choices_of(task, doc)
    alone = [("", choice) for choice in choices] if task.wants_unconditional else []
    if isinstance(prompt, str):
        return [(prompt, choice) for choice in choices] + alone
    answer = str(task.template.target(doc.row))
    return [(context, answer) for context in prompt] + alone


def _spaced_choices(task: Task, doc: Doc, prompt: str | list[str], *, chat: bool, space: str) -> list[Request]:
    """After an assistant prefix as in plain text: the text before the choice is the task's own there."""
    header = chat and not task.template.gen_prefix(doc.row)
    delimiter = "" if header else task.template.target_delimiter
    return [
        choice_request(context, text, delimiter=delimiter, space=space, header=header)
        for context, text in _choice_pairs(task, doc, prompt)
    ]


def choice_delimiter(task: Task, *, chat: bool) -> str:
    """What stands before a choice; nothing after a chat template's assistant header.

    Like lm-eval, this looks at the prefix as the task file has it, before it is rendered.
    """
    prefix = task.config.get("gen_prefix")
    bare = chat and (not prefix or prefix[-1].isspace())
    return "" if bare else task.template.target_delimiter


def choices_of(task: Task, doc: Doc) -> Sequence[str]:
    if task.template.choices is None:
        raise UserError(f"{task.source}: a multiple_choice task needs 'doc_to_choice'.")
    choices = task.template.choices(doc.row)
    is_list = isinstance(choices, list | tuple) and len(choices) > 0
    if not is_list or not all(isinstance(choice, str) for choice in choices):
        raise UserError(f"{task.source}: doc_to_choice must give a list of strings, but gave {choices!r}.")
    return choices


def _instance(key: InstanceKey, request: Request) -> Instance:
    arguments, kind = request.arguments, request.kind
    if kind is RequestKind.GENERATE:
        return Instance(key=key, kind=kind, context=arguments[0], generation=request.generation, arguments=arguments)
    return Instance(
        key=key,
        kind=kind,
        context=arguments[0] if kind is RequestKind.LOGLIKELIHOOD else "",
        continuation=arguments[-1],
        arguments=arguments,
        moves_blanks=request.moves_blanks,
    )


def _text(target: Any) -> str:
    if not isinstance(target, str):
        raise UserError(f"doc_to_target must give the text to score, but gave {target!r}.")
    return target
