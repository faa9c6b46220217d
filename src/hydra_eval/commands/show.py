"""`hydra-eval show`: one document of a task as the model would see it, and what an answer to it would score."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hydra_eval.commands.composed import composed
from hydra_eval.config.schema import RunConfig
from hydra_eval.dry_run.preview import Section, previews, sections
from hydra_eval.errors import UserError, at_document, counted
from hydra_eval.models import check_generations, load_encoder, load_tokenizer
from hydra_eval.models.chat import style_of
from hydra_eval.models.encoding import Encoder
from hydra_eval.pipeline import prepare
from hydra_eval.prompts.fitting import Asked, limits_of
from hydra_eval.records import Doc, Instance, RequestKind, Response
from hydra_eval.sample_file import as_plain
from hydra_eval.scoring import as_reply, scores_of
from hydra_eval.tasks.build import build_tasks
from hydra_eval.tasks.task import Task


def show(overrides: Sequence[str], *, number: int, answer: str | None) -> Iterator[Section]:
    """Sections about document `number` of every task that `overrides` choose.

    `answer` is a reply, or for multiple choice the number of a choice; every step of every filter is shown on it.
    Raises UserError for whatever would stop the run before its model loads.
    """
    config = composed(overrides)
    tasks = build_tasks(config)
    tokenizer = load_tokenizer(config.model)
    for task in tasks:
        yield from _about(task, config, tokenizer, number=number, answer=answer)


def _about(task: Task, config: RunConfig, tokenizer: Any, *, number: int, answer: str | None) -> Iterator[Section]:
    doc = _document(task, number)
    encoder = load_encoder(config.model, tokenizer)
    one = _asked(task, doc, config, encoder)
    yield f"{task.name}", _head(task, config)
    split, position = doc.origin
    yield f"document {number} of {len(task.all_docs)} ({split}, row {position})", _as_json(doc.row)
    if one.shots:
        places = (f"{shot.origin[0]} {shot.origin[1]}" for shot in one.shots)
        yield f"{counted(len(one.shots), 'example')} ({task.shots.strategy})", ", ".join(places)
    with at_document(task.name, number):
        yield "target", repr(task.template.target(doc.row))
        if task.template.choices is not None:
            yield (
                "choices",
                "\n".join(f"{place}  {choice!r}" for place, choice in enumerate(task.template.choices(doc.row))),
            )
    for preview in previews(one.requests, encoder):
        yield from sections(preview, tokenizer)
    if answer is not None:
        yield from _scored(task, doc, one.requests, answer)


def _asked(task: Task, doc: Doc, config: RunConfig, encoder: Encoder) -> Asked:
    """The document as the run would ask about it, fitted to the model's window."""
    check_generations(config.model, encoder.tokenizer, {task.name: task.generation} if task.generation else {})
    work = prepare(
        [replace(task, docs=(doc,))],
        style_of(config.prompt, encoder.tokenizer),
        batch_tokens=1,
        limits=limits_of(config.prompt.overflow, encoder),
    )
    return work.asked[doc.key]


def _document(task: Task, number: int) -> Doc:
    if not 0 <= number < len(task.all_docs):
        raise UserError(f"--doc {number}: '{task.name}' has the documents 0 to {len(task.all_docs) - 1}.")
    return task.all_docs[number]


def _head(task: Task, config: RunConfig) -> str:
    key = next((key for key, content in config.tasks.items() if content["task"] == task.base_name), task.base_name)
    metrics = ", ".join(metric.name for metric in task.metrics) or "what process_results gives"
    shots, replies = counted(task.shots.n, "shot"), counted(task.repeats, "reply", "replies")
    return "\n".join(
        (
            f"file     {task.source}",
            f"key      tasks.{key}",
            f"type     {task.output_type}, {shots}, {replies} per request",
            f"metrics  {metrics}",
        )
    )


def _as_json(row: Mapping[str, Any]) -> str:
    return json.dumps(dict(row), ensure_ascii=False, indent=2, default=as_plain)


def _scored(task: Task, doc: Doc, instances: Sequence[Instance], answer: str) -> Iterator[Section]:
    """What every step of every pipeline makes of the answer, and its scores."""
    replies = _replies(task, instances, answer)
    with at_document(task.name, doc.index):
        for pipeline in task.filters:
            outputs: list[Any] = [[reply] * task.repeats for reply in replies]
            kept = pipeline.keep(outputs, [doc.row] * len(outputs))
            lines = [f"   {'reply':<24} {_short(outputs)}"]
            for place, step in enumerate(pipeline.steps):
                outputs = step(outputs, [doc.row] * len(outputs))
                name = pipeline.step_names[place] if len(pipeline.step_names) == len(pipeline.steps) else ""
                lines.append(f"{place + 1:>2} {name:<24} {_short(outputs)}")
            scores, _ = scores_of(task, doc, outputs, kept)
            lines += [f"   {name:<24} {value!r}" for name, value in scores.items()]
            yield f"filter {pipeline.name}", "\n".join(lines)


def _replies(task: Task, instances: Sequence[Instance], answer: str) -> list[Any]:
    """The answer itself where text is generated; of choices the likeliest is that of the number."""
    requests = [instance for instance in instances if instance.key.repeat == 0]
    chosen = int(answer) if answer.isdecimal() else None
    if all(request.kind is not RequestKind.GENERATE for request in requests) and chosen not in range(len(requests)):
        raise UserError(
            f"--answer {answer}: the model of '{task.name}' chooses between texts: give the number of one, 0 to "
            f"{len(requests) - 1}."
        )
    return [as_reply(request, _said(request, answer, chosen=place == chosen)) for place, request in enumerate(requests)]


def _said(request: Instance, answer: str, *, chosen: bool) -> Response:
    logprob = 0.0 if chosen else -10.0
    return Response(key=request.key, text=answer, logprob=logprob, is_greedy=chosen, token_logprobs=(logprob,))


def _short(outputs: Sequence[Any]) -> str:
    return repr(outputs[0]) if len(outputs) == 1 else repr(list(outputs))
