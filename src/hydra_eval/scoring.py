"""The replies to one document become one row per filter pipeline.

Semantics: lm-eval 0.4.13, `ConfigurableTask.process_results`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Any

from hydra_eval.errors import UserError, at_document, counted
from hydra_eval.filters.base import Pipeline
from hydra_eval.filters.replies import as_replies
from hydra_eval.instances import choices_of
from hydra_eval.metrics.base import ChoiceOutcome, GenerationOutcome, LikelihoodOutcome, Outcome
from hydra_eval.records import Doc, Instance, RequestKind, Response, SampleRow
from hydra_eval.tasks.task import Task

log = logging.getLogger(__name__)

NO_CHOICE = -100
"""Stands for a right answer that is not among the choices; scores 0, as in lm-eval."""
MADE_UP = "The answer is 0."
"""A reply to try filters on."""


def check_filters(task: Task, instances: Sequence[Instance]) -> None:
    """What a filter or a metric cannot take is found out on made-up replies, before hours of inference."""
    if task.own_requests is not None:
        return
    requests = len({instance.key.request for instance in instances if instance.key.doc == task.docs[0].index})
    for pipeline in task.filters:
        where = f"{task.source}: filter pipeline '{pipeline.name}'"
        if task.output_type == "generate_until":
            _check_on_text(task, pipeline, where)
        else:
            _check_on_likelihoods(task, pipeline, requests, where)


def _check_on_text(task: Task, pipeline: Pipeline, where: str) -> None:
    """Only for a pipeline of our own filters: what code of the task's own makes of a made-up reply, nobody knows."""
    if not pipeline.is_ours:
        return
    try:
        (kept,) = pipeline.keep([[MADE_UP] * task.repeats], [task.docs[0].row])
        pipeline.choose([kept], [task.docs[0].row])
    except UserError as error:
        raise UserError(f"{where}: {error}") from error
    for metric in task.metrics:
        if metric.takes == "one" and pipeline.leaves_list:
            raise UserError(
                f"{where} leaves a list of replies, and metric '{metric.name}' scores one. End it in take_first or "
                "take_last, or take a metric over several replies (avg@n, maj@n, pass@k)."
            )
        if metric.takes == "all" and len(as_replies(kept)) < metric.replies:
            raise UserError(
                f"{where} leaves {counted(len(as_replies(kept)), 'reply', 'replies')}, and metric '{metric.name}' "
                f"needs {metric.replies}. Leave out the step that chooses, take_first at the end aside."
            )


def _check_on_likelihoods(task: Task, pipeline: Pipeline, requests: int, where: str) -> None:
    reply: Any = -1.0 if task.output_type == "loglikelihood_rolling" else (-1.0, False)
    given = f"the model gives log-likelihoods, such as {reply!r}, for {task.output_type}"
    try:
        outputs = pipeline([[reply] * task.repeats] * requests, [task.docs[0].row] * requests)
    except UserError as error:
        raise UserError(f"{where}: {error} For {task.output_type} the model gives log-likelihoods.") from error
    except (AttributeError, TypeError) as error:
        steps = ", ".join(pipeline.step_names)
        raise UserError(f"{where}: {given}, on which its steps ({steps}) fail: {error}.") from error
    if task.process_results is None and not all(isinstance(output, type(reply)) for output in outputs):
        raise UserError(
            f"{where}: must leave one log-likelihood per request, but leaves {outputs[:1]!r}; {given}. take_first does."
        )


def check_targets(task: Task) -> None:
    """What is right of every document: found here, where it fails, and not after hours of inference.

    One line says of how many documents it is not among the choices.
    """
    if task.own_requests is not None:
        return
    indexed = task.output_type == "multiple_choice" and task.process_results is None
    missing = []
    for doc in task.docs:
        with at_document(task.name, doc.index):
            task.template.target(doc.row)
            if indexed and not _is_among_choices(task, doc):
                missing.append(doc.index)
    if missing:
        log.warning(
            "task '%s': of %d of %d documents the right answer is not among the choices; the first is document %d.",
            *(task.name, len(missing), len(task.docs), missing[0]),
        )


def _is_among_choices(task: Task, doc: Doc) -> bool:
    gold = _gold_of(task, doc, choices_of(task, doc))
    return all(index >= 0 for index in (gold if isinstance(gold, list) else [gold]))


class Likelihood(tuple[Any, ...]):
    """(log-likelihood, is_greedy), as lm-eval shows it, which also knows how many tokens it is summed over."""

    tokens: int

    def __new__(cls, pair: Iterable[Any], tokens: int = 0) -> Likelihood:
        made = super().__new__(cls, pair)
        made.tokens = tokens
        return made


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
        parts = zip(answered, *_filtered(pipeline, task, answered), strict=True)
        rows += [_row(task, pipeline.name, *part) for part in parts]
    return rows


def _filtered(pipeline: Pipeline, task: Task, answered: Sequence[Answered]) -> tuple[list[list[Any]], list[list[Any]]]:
    """(what the pipeline keeps before it chooses, its outputs), document by document.

    A pipeline that fails runs again, to find the document.
    """
    resps = [document.resps for document in answered]
    flat = [replies for of_document in resps for replies in of_document]
    docs = [document.doc.row for document, of_document in zip(answered, resps, strict=True) for _ in of_document]
    try:
        kept = pipeline.keep(flat, docs)
        outputs = pipeline.choose(kept, docs)
    except (Exception, SystemExit) as error:
        for document in answered:
            with at_document(task.name, document.doc.index):
                pipeline(document.resps, [document.doc.row] * len(document.resps))
        where = f"{task.source}: filter pipeline '{pipeline.name}'"
        if isinstance(error, UserError):
            raise UserError(f"{where}: {error}") from error
        error.add_note(f"in {where}")
        raise
    return _by_document(kept, resps), _by_document(outputs, resps)


def _by_document(outputs: Iterable[Any], resps: Sequence[Sequence[Any]]) -> list[list[Any]]:
    flow = iter(outputs)
    return [list(islice(flow, len(of_document))) for of_document in resps]


def _row(task: Task, pipeline: str, answered: Answered, kept: list[Any], outputs: list[Any]) -> SampleRow:
    doc = answered.doc
    responses = [response for _, response in answered.pairs]
    ids = tuple(response.input_ids for response in responses)
    reasoning = tuple(response.reasoning for response in responses)
    with at_document(task.name, doc.index):
        scores, metric_of = scores_of(task, doc, outputs, kept)
        target = task.template.target(doc.row)
    return SampleRow(
        task=task.name,
        doc_id=doc.index,
        filter=pipeline,
        doc=doc.row,
        target=target,
        arguments=answered.arguments,
        resps=tuple(tuple(replies) for replies in answered.resps),
        filtered_resps=tuple(kept if _scores_all(task) else outputs),
        scores=scores,
        metric_of=metric_of,
        shots=tuple(shot.index for shot in answered.shots),
        shots_requested=task.shots.n,
        shots_used=task.shots.n if task.shots.drawn_by_task else len(answered.shots),
        input_ids=ids if any(ids) else (),
        input_tokens=tuple(response.input_tokens for response in responses),
        output_tokens=tuple(response.output_tokens for response in responses),
        cut_tokens=tuple(response.cut_tokens for response in responses),
        finish_reasons=tuple(response.finish_reason for response in responses),
        reasoning=reasoning if any(part is not None for part in reasoning) else (),
        halvings=max((response.halvings for response in responses), default=0),
    )


def as_reply(instance: Instance, response: Response) -> Any:
    """What filters and `process_results` see: text, (log-likelihood, is_greedy), or a log-likelihood."""
    if instance.kind is RequestKind.GENERATE:
        return response.text
    if instance.kind is RequestKind.ROLLING:
        return response.logprob
    return Likelihood((response.logprob, response.is_greedy), tokens=len(response.token_logprobs))


def scores_of(
    task: Task, doc: Doc, outputs: list[Any], kept: Sequence[Any] = ()
) -> tuple[dict[str, Any], dict[str, str]]:
    """(name → this document's value, name → metric where they differ: a metric may give a mapping of values).

    `kept` is what the pipeline had before it chose, for metrics over several replies; default: the outputs.
    """
    if task.process_results is not None:
        return _own_scores(task.process_results(doc.row, outputs), task.source), {}
    seen = outcome(task, doc, outputs, kept)
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


def _scores_all(task: Task) -> bool:
    return any(metric.takes == "all" for metric in task.metrics)


def outcome(task: Task, doc: Doc, outputs: list[Any], kept: Sequence[Any] = ()) -> Outcome:
    """The document's filtered replies beside what was right."""
    if task.output_type == "multiple_choice":
        return _choice_outcome(task, doc, outputs)
    if task.output_type == "generate_until":
        return _generation_outcome(task, doc, outputs[0], as_replies((kept or outputs)[0]))
    target = task.template.target(doc.row)
    if task.output_type == "loglikelihood_rolling":
        return LikelihoodOutcome(text=target, logprob=outputs[0])
    logprob, is_greedy = outputs[0]
    return LikelihoodOutcome(text=target, logprob=logprob, is_greedy=is_greedy, doc=doc.row)


def _choice_outcome(task: Task, doc: Doc, outputs: list[Any]) -> ChoiceOutcome:
    choices = choices_of(task, doc)
    count = len(choices)
    logprobs = [logprob for logprob, _ in outputs]
    return ChoiceOutcome(
        choices=choices,
        gold=_gold_of(task, doc, choices),
        logprobs=logprobs[:count],
        is_greedy=[is_greedy for _, is_greedy in outputs[:count]],
        unconditional=logprobs[count:] if task.wants_unconditional else None,
        doc=doc.row,
    )


def _gold_of(task: Task, doc: Doc, choices: Sequence[str]) -> int | list[int]:
    gold = task.template.text(doc.row) if task.multiple_input else task.template.target(doc.row)
    return [_gold_index(one, choices) for one in gold] if isinstance(gold, list) else _gold_index(gold, choices)


def _gold_index(gold: Any, choices: Sequence[str]) -> int:
    gold = _python_number(gold)
    if isinstance(gold, str):
        gold = choices.index(gold) if gold in choices else NO_CHOICE
    if not isinstance(gold, int | float):
        raise UserError(f"doc_to_target must give a choice's index or text, but gave {gold!r}.")
    return NO_CHOICE if not gold < len(choices) or gold % 1 else int(gold)


def _python_number(value: Any) -> Any:
    """A number of numpy's, which a hook may give, as one of Python's."""
    return value.item() if getattr(value, "ndim", None) == 0 else value


def _generation_outcome(task: Task, doc: Doc, result: Any, replies: list[Any]) -> GenerationOutcome:
    target = task.template.target(doc.row)
    like = replies[0] if _scores_all(task) else result
    if task.template.choices is not None:
        target = _choice(choices_of(task, doc), target)
    elif task.multiple_target:
        target = list(target) if isinstance(target, list) else [target]
    elif not isinstance(like, list) and type(target) is not type(like):
        target = _like(like, target)
    return GenerationOutcome(
        prediction=result, gold=target, multiple_target=task.multiple_target, replies=tuple(replies)
    )


def _like(reply: Any, target: Any) -> Any:
    """The target in the type of the reply, as lm-eval compares them."""
    try:
        return type(reply)(target)
    except (TypeError, ValueError) as error:
        raise UserError(f"the filters leave {reply!r}, which cannot be compared with the target {target!r}.") from error


def _choice(choices: Sequence[str], index: Any) -> str:
    index = _python_number(index)
    if not isinstance(index, int) or not -len(choices) <= index < len(choices):
        raise UserError(f"doc_to_target must give the index of one of {len(choices)} choices, but gave {index!r}.")
    return choices[index]
