"""The replies to one document become one row per filter pipeline.

Semantics: lm-eval 0.4.13, `ConfigurableTask.process_results`.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Any

from hydra_eval.errors import UserError, at_document
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
    if task.output_type == "generate_until" or task.own_requests is not None:
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


@dataclass(frozen=True, slots=True)
class Answered:
    """A document with all its replies."""

    doc: Doc
    shots: Sequence[Doc]
    pairs: Sequence[tuple[Instance, Response]]
    """In request order, repeats side by side."""

    @property
    def arguments(self) -> tuple[tuple[Any, ...], ...]:
        """One entry per request."""
        return tuple(instance.arguments for instance, _ in self.pairs if instance.key.repeat == 0)

    @property
    def resps(self) -> list[list[Any]]:
        """Request × repeat."""
        by_request = groupby(self.pairs, key=lambda pair: pair[0].key.request)
        return [[as_reply(instance, response) for instance, response in request] for _, request in by_request]


def score_documents(task: Task, answered: Sequence[Answered]) -> list[SampleRow]:
    """One row per document and pipeline.

    A pipeline gets the replies of all documents in one call, as in lm-eval: some filters take long to start.
    """
    rows: list[SampleRow] = []
    for pipeline in task.filters:
        outputs = _filtered(pipeline, task, answered)
        rows += [_row(task, pipeline.name, *part) for part in zip(answered, outputs, strict=True)]
    return rows


def _filtered(pipeline: Pipeline, task: Task, answered: Sequence[Answered]) -> list[list[Any]]:
    """The pipeline's outputs, document by document. A pipeline that fails runs again, to find the document."""
    resps = [document.resps for document in answered]
    flat = [replies for of_document in resps for replies in of_document]
    docs = [document.doc.row for document, of_document in zip(answered, resps, strict=True) for _ in of_document]
    try:
        outputs = iter(pipeline(flat, docs))
    except Exception:
        for document in answered:
            with at_document(task.name, document.doc.index):
                pipeline(document.resps, [document.doc.row] * len(document.resps))
        raise
    return [list(islice(outputs, len(of_document))) for of_document in resps]


def _row(task: Task, pipeline: str, answered: Answered, outputs: list[Any]) -> SampleRow:
    doc = answered.doc
    responses = [response for _, response in answered.pairs]
    with at_document(task.name, doc.index):
        scores, metric_of = scores_of(task, doc, outputs)
        target = task.template.target(doc.row)
    return SampleRow(
        task=task.name,
        doc_id=doc.index,
        filter=pipeline,
        doc=doc.row,
        target=target,
        arguments=answered.arguments,
        resps=tuple(tuple(replies) for replies in answered.resps),
        filtered_resps=tuple(outputs),
        scores=scores,
        metric_of=metric_of,
        shots=tuple(shot.index for shot in answered.shots),
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
