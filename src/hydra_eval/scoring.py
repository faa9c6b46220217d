"""The replies to one document become one row per filter pipeline.

Semantics: lm-eval 0.4.13, `ConfigurableTask.process_results`.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from hydra_eval.errors import UserError
from hydra_eval.filters.base import Pipeline
from hydra_eval.instances import choices_of
from hydra_eval.metrics.base import ChoiceOutcome, GenerationOutcome, LikelihoodOutcome, Outcome
from hydra_eval.records import Doc, Instance, RequestKind, Response, SampleRow
from hydra_eval.tasks.task import Task

log = logging.getLogger(__name__)

NO_CHOICE = -100
"""Stands for a right answer that is not among the choices; scores 0, as in lm-eval."""


def check_filters(task: Task, instances: Sequence[Instance]) -> None:
    """A filter for text fails on log-likelihoods: found out on a made-up reply, before hours of inference."""
    if task.output_type == "generate_until":
        return
    reply: Any = -1.0 if task.output_type == "loglikelihood_rolling" else (-1.0, False)
    requests = len({instance.key.request for instance in instances if instance.key.doc == task.docs[0].index})
    for pipeline in task.filters:
        where = f"{task.source}: filter pipeline '{pipeline.name}'"
        try:
            outputs = pipeline([[reply] * task.repeats] * requests, [task.docs[0].row] * requests)
        except (AttributeError, TypeError) as error:
            raise UserError(
                f"{where}: fails on log-likelihoods, which is what the model gives for {task.output_type}: {error}."
            ) from error
        if task.process_results is None and not all(isinstance(output, type(reply)) for output in outputs):
            raise UserError(
                f"{where}: must leave one log-likelihood per request for {task.output_type}, but leaves "
                f"{outputs[:1]!r}. take_first does."
            )


def score_document(
    task: Task, doc: Doc, shots: Sequence[Doc], answered: Sequence[tuple[Instance, Response]]
) -> list[SampleRow]:
    """One row per pipeline. `answered` holds the document's requests with their responses, in request order."""
    requests = [list(group) for _, group in groupby(answered, key=lambda pair: pair[0].key.request)]
    return [_row(task, doc, shots, requests, pipeline) for pipeline in task.filters]


def _row(
    task: Task, doc: Doc, shots: Sequence[Doc], requests: list[list[tuple[Instance, Response]]], pipeline: Pipeline
) -> SampleRow:
    resps = [[as_reply(instance, response) for instance, response in request] for request in requests]
    outputs = pipeline(resps, [doc.row] * len(resps))
    responses = [response for request in requests for _, response in request]
    scores, metric_of = scores_of(task, doc, outputs)
    return SampleRow(
        task=task.name,
        doc_id=doc.index,
        filter=pipeline.name,
        doc=doc.row,
        target=task.template.target(doc.row),
        arguments=tuple(request[0][0].arguments for request in requests),
        resps=tuple(tuple(replies) for replies in resps),
        filtered_resps=tuple(outputs),
        scores=scores,
        metric_of=metric_of,
        shots=tuple(shot.index for shot in shots),
        input_tokens=tuple(response.input_tokens for response in responses),
        output_tokens=tuple(response.output_tokens for response in responses),
        cut_tokens=tuple(response.cut_tokens for response in responses),
        finish_reasons=tuple(response.finish_reason for response in responses),
    )


def as_reply(instance: Instance, response: Response) -> Any:
    """What filters and `process_results` see: text, (log-likelihood, is_greedy), or a log-likelihood."""
    if instance.kind is RequestKind.GENERATE:
        return response.text
    if instance.kind is RequestKind.ROLLING:
        return response.logprob
    return (response.logprob, response.is_greedy)


def scores_of(task: Task, doc: Doc, outputs: list[Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """(name → this document's value, name → metric where they differ: a metric may give a mapping of values)."""
    if task.process_results is not None:
        return _own_scores(task.process_results(doc.row, outputs), task.source), {}
    seen = outcome(task, doc, outputs)
    scores: dict[str, Any] = {}
    metric_of: dict[str, str] = {}
    for metric in task.metrics:
        assert metric.score is not None
        value = metric.score(seen)
        if isinstance(value, Mapping):
            scores |= value
            metric_of |= dict.fromkeys(value, metric.name)
        else:
            scores[metric.name] = value
    return scores, metric_of


def _own_scores(given: Any, source: str) -> dict[str, Any]:
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise UserError(f"{source}: process_results must give a mapping from names to values, but gave {given!r}.")
    return dict(given)


def outcome(task: Task, doc: Doc, outputs: list[Any]) -> Outcome:
    """The document's filtered replies beside what was right."""
    if task.output_type == "multiple_choice":
        return _choice_outcome(task, doc, outputs)
    target = task.template.target(doc.row)
    if task.output_type == "generate_until":
        return _generation_outcome(task, doc, outputs[0], target)
    if task.output_type == "loglikelihood_rolling":
        return LikelihoodOutcome(text=target, logprob=outputs[0])
    logprob, is_greedy = outputs[0]
    return LikelihoodOutcome(text=target, logprob=logprob, is_greedy=is_greedy)


def _choice_outcome(task: Task, doc: Doc, outputs: list[Any]) -> ChoiceOutcome:
    choices = choices_of(task, doc)
    count = len(choices)
    logprobs = [logprob for logprob, _ in outputs]
    gold = task.template.text(doc.row) if task.multiple_input else task.template.target(doc.row)
    return ChoiceOutcome(
        choices=choices,
        gold=_gold(gold, choices, doc),
        logprobs=logprobs[:count],
        is_greedy=[is_greedy for _, is_greedy in outputs[:count]],
        unconditional=logprobs[count:] if task.wants_unconditional else None,
    )


def _gold(gold: Any, choices: Sequence[str], doc: Doc) -> int | list[int]:
    if isinstance(gold, list):
        return [_gold_index(one, choices, doc) for one in gold]
    return _gold_index(gold, choices, doc)


def _gold_index(gold: Any, choices: Sequence[str], doc: Doc) -> int:
    if isinstance(gold, str):
        gold = choices.index(gold) if gold in choices else NO_CHOICE
    if not isinstance(gold, int | float):
        raise UserError(f"doc_to_target must give a choice's index or text, but gave {gold!r}.")
    if not gold < len(choices):
        gold = NO_CHOICE
    if gold == NO_CHOICE:
        log.warning("task '%s', document %d: the right answer is not among the choices.", doc.task, doc.index)
    return int(gold)


def _generation_outcome(task: Task, doc: Doc, result: Any, target: Any) -> GenerationOutcome:
    if task.template.choices is not None:
        target = _choice(choices_of(task, doc), target)
    elif task.multiple_target:
        target = list(target) if isinstance(target, list) else [target]
    elif not isinstance(result, list) and type(target) is not type(result):
        target = type(result)(target)
    return GenerationOutcome(prediction=result, gold=target, multiple_target=task.multiple_target)


def _choice(choices: Sequence[str], index: Any) -> str:
    if not isinstance(index, int) or not -len(choices) <= index < len(choices):
        raise UserError(f"doc_to_target must give the index of one of {len(choices)} choices, but gave {index!r}.")
    return choices[index]
