"""`hydra-eval show`: one document of a task as the model would see it, and what an answer to it would score."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from hydra_eval.commands.composed import composed
from hydra_eval.commands.visible import marked_ids, pieces, visible
from hydra_eval.config.schema import RunConfig
from hydra_eval.errors import UserError, at_document
from hydra_eval.fewshot import pick_shots
from hydra_eval.models import load_tokenizer
from hydra_eval.models.chat import style_of
from hydra_eval.models.encoding import Encoder, encode_pairs, find_prefix_id
from hydra_eval.pipeline import document_requests
from hydra_eval.records import Doc, Instance, RequestKind, Response
from hydra_eval.sample_file import as_plain
from hydra_eval.scoring import as_reply, scores_of
from hydra_eval.tasks.build import build_tasks
from hydra_eval.tasks.task import Task

Section: TypeAlias = tuple[str, str]
"""A heading and the text below it."""
ENDLESS = 10**9
"""No model is loaded, so no window is known: nothing is cut."""


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
    shots = pick_shots(task).shots[number]
    yield f"{task.name}", _head(task, config)
    split, position = doc.origin
    yield f"document {number} of {len(task.all_docs)} ({split}, row {position})", _as_json(doc.row)
    if shots:
        places = (f"{shot.origin[0]} {shot.origin[1]}" for shot in shots)
        yield f"{len(shots)} examples ({task.shots.strategy})", ", ".join(places)
    with at_document(task.name, number):
        yield "target", repr(task.template.target(doc.row))
        if task.template.choices is not None:
            yield (
                "choices",
                "\n".join(f"{place}  {choice!r}" for place, choice in enumerate(task.template.choices(doc.row))),
            )
    instances = document_requests(task, doc, shots, style_of(config.prompt, tokenizer))
    yield from _requests(instances, config, tokenizer)
    if answer is not None:
        yield from _scored(task, doc, instances, answer)


def _document(task: Task, number: int) -> Doc:
    if not 0 <= number < len(task.all_docs):
        raise UserError(f"--doc {number}: '{task.name}' has the documents 0 to {len(task.all_docs) - 1}.")
    return task.all_docs[number]


def _head(task: Task, config: RunConfig) -> str:
    key = next((key for key, content in config.tasks.items() if content["task"] == task.base_name), task.base_name)
    metrics = ", ".join(metric.name for metric in task.metrics) or "what process_results gives"
    return "\n".join(
        (
            f"file     {task.source}",
            f"key      tasks.{key}",
            f"type     {task.output_type}, {task.shots.n} shots, {task.repeats} replies per request",
            f"metrics  {metrics}",
        )
    )


def _as_json(row: Mapping[str, Any]) -> str:
    return json.dumps(dict(row), ensure_ascii=False, indent=2, default=as_plain)


def _requests(instances: Sequence[Instance], config: RunConfig, tokenizer: Any) -> Iterator[Section]:
    """A prompt and its ids once; of further requests under the same prompt only what is scored."""
    encoder = Encoder(
        tokenizer=tokenizer,
        max_length=ENDLESS,
        prefix_id=find_prefix_id(tokenizer, config.model.prefix_token_id),
        add_bos=config.model.add_bos_token,
    )
    shown: set[str] = set()
    for instance in instances:
        if instance.key.repeat == 0:
            title = f"request {instance.key.request} ({instance.kind.value})"
            yield from _request(title, instance, encoder, with_prompt=instance.context not in shown)
            shown.add(instance.context)


def _request(title: str, instance: Instance, encoder: Encoder, *, with_prompt: bool) -> Iterator[Section]:
    context, scored = _ids(instance, encoder)
    if with_prompt and instance.kind is not RequestKind.ROLLING:
        yield f"{title}: prompt, {len(context)} tokens", visible(instance.context) or "(empty)"
    if instance.continuation is not None:
        yield f"{title}: scored, {len(scored)} tokens", visible(instance.continuation)
    if instance.generation is not None:
        yield f"{title}: generation", _as_json(instance.arguments[1])
    ids = marked_ids(context if with_prompt else (), scored)
    yield f"{title}: ids", "\n".join((ids, *([pieces(scored, encoder.tokenizer)] if scored else [])))


def _ids(instance: Instance, encoder: Encoder) -> tuple[Sequence[int], Sequence[int]]:
    """(ids of the prompt, ids that are scored)"""
    if instance.kind is RequestKind.LOGLIKELIHOOD:
        return encode_pairs(encoder, [(instance.context, instance.continuation or "")])[0]
    if instance.kind is RequestKind.GENERATE:
        return encoder.encode([instance.context])[instance.context], ()
    text = instance.continuation or ""
    return (), encoder.encode([text])[text]


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
