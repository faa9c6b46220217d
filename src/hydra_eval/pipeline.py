"""The stages in their order: tasks → shots → prompts → requests → packets, and replies → rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b

from hydra_eval.errors import UserError, at_document
from hydra_eval.fewshot import Picks, fewer, pick_shots
from hydra_eval.instances import identified, requests_of
from hydra_eval.plan import plan_packets
from hydra_eval.prompts.choice_space import say_scored_blanks
from hydra_eval.prompts.fitting import ONLY_CUT, Asked, Limits, fit
from hydra_eval.prompts.overflow import Overflow
from hydra_eval.prompts.render import render_prompt
from hydra_eval.prompts.seams import say_odd_seams
from hydra_eval.prompts.style import Style
from hydra_eval.records import Doc, DocKey, Instance, InstanceKey, Packet, Request, Response, SampleRow
from hydra_eval.scoring import Answered, check_filters, check_targets, score_documents
from hydra_eval.tasks.task import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Everything that is known before the model is asked; the same on every rank."""

    tasks: tuple[Task, ...]
    picks: Mapping[str, Picks]
    """Task name → examples per document, as drawn for it."""
    packets: tuple[Packet, ...]
    batch_tokens: int
    """Most tokens of one forward pass, by which they were cut."""
    asked: Mapping[DocKey, Asked]
    """Every document that is scored, with the examples it shows and its requests in order."""
    overflow: Mapping[str, Overflow]
    """Task name → what became of its prompts that were too long."""

    @property
    def requests(self) -> int:
        return sum(len(one.requests) for one in self.asked.values())

    @property
    def sampled(self) -> dict[str, bool]:
        """Task that generates → whether any of its replies is sampled."""
        found: dict[str, bool] = {}
        for key, one in self.asked.items():
            for generation in (request.generation for request in one.requests if request.generation):
                found[key.task] = found.get(key.task, False) or generation.do_sample
        return found

    @property
    def digests(self) -> dict[str, str]:
        """Task → a hash of everything that is asked for it, in order."""
        hashes = {task.name: blake2b(digest_size=16) for task in self.tasks}
        for key, one in self.asked.items():
            for instance in one.requests:
                hashes[key.task].update(repr((instance.key, instance.context, instance.continuation)).encode())
        return {name: found.hexdigest() for name, found in hashes.items()}

    @property
    def scored_tasks(self) -> list[Task]:
        """The tasks without the documents that are left out, which count nowhere but in the overflow."""
        return [_without(task, set(self.overflow[task.name].skipped)) for task in self.tasks]

    def shown(self, task: str) -> list[tuple[Doc, ...]]:
        """The examples in the prompts of a task's documents, those that are left out aside."""
        return [one.shots for key, one in self.asked.items() if key.task == task]

    @property
    def docs(self) -> dict[DocKey, Doc]:
        return {key: one.doc for key, one in self.asked.items()}

    @property
    def requests_of(self) -> dict[DocKey, tuple[Instance, ...]]:
        """Every request of a document, in order."""
        return {key: one.requests for key, one in self.asked.items()}


def prepare(
    tasks: Sequence[Task],
    style: Style,
    *,
    batch_tokens: int,
    limits: Limits = ONLY_CUT,
) -> Work:
    """Examples, prompts and requests of every document, fitted to the model's window and cut into packets.

    Raises UserError for a prompt that is too long where `limits` has no answer to it.
    """
    picks = {task.name: pick_shots(task) for task in tasks}
    asked: dict[DocKey, Asked] = {}
    overflow: dict[str, Overflow] = {}
    for task in tasks:
        whole = [ask_about(task, doc, picks[task.name].shots[doc.index], style) for doc in task.docs]
        check_filters(task, whole[0].requests)
        check_targets(task)
        fitting, overflow[task.name] = fit(task, whole, limits, partial(_with_fewer, task, style))
        asked |= {one.doc.key: one for one in fitting}
    instances = [instance for one in asked.values() for instance in one.requests]
    spaced = {task.name for task in tasks if task.output_type != "loglikelihood" and not task.shots.drawn_by_task}
    say_scored_blanks((one for one in instances if one.key.task in spaced), chat=style.chat is not None)
    say_odd_seams(tasks, {key: one.requests for key, one in asked.items()}, style)
    return Work(
        tasks=tuple(tasks),
        picks=picks,
        packets=tuple(plan_packets(instances, batch_tokens=batch_tokens)),
        batch_tokens=batch_tokens,
        asked=asked,
        overflow=overflow,
    )


def ask_about(task: Task, doc: Doc, shots: Sequence[Doc], style: Style) -> Asked:
    return Asked(doc=doc, shots=tuple(shots), requests=tuple(document_requests(task, doc, shots, style)))


def _with_fewer(task: Task, style: Style, one: Asked, count: int) -> Asked:
    return ask_about(task, one.doc, fewer(task, one.doc, one.shots, count), style)


def _without(task: Task, skipped: Collection[int]) -> Task:
    return replace(task, docs=tuple(doc for doc in task.docs if doc.index not in skipped)) if skipped else task


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """What one rank makes of its responses."""

    rows: list[SampleRow]
    loose: list[Response]
    """Responses of documents that ask several kinds of requests, the rest of which another rank answered."""


def score(work: Work, responses: Sequence[Response]) -> Scored:
    """The rows of every document that is answered in full."""
    by_key: dict[InstanceKey, Response] = {response.key: response for response in responses}
    touched = dict.fromkeys(DocKey(response.key.task, response.key.doc) for response in responses)
    complete: dict[str, list[Answered]] = defaultdict(list)
    loose: list[Response] = []
    for key in touched:
        one = work.asked[key]
        found = [(instance, by_key[instance.key]) for instance in one.requests if instance.key in by_key]
        if len(found) < len(one.requests):
            loose += [response for _, response in found]
            continue
        complete[key.task].append(Answered(one.doc, one.shots, found))
    rows = [row for task in work.tasks if task.name in complete for row in score_documents(task, complete[task.name])]
    return Scored(rows=rows, loose=loose)


def document_requests(task: Task, doc: Doc, shots: Sequence[Doc], style: Style) -> list[Instance]:
    """Everything that is asked about one document."""
    with at_document(task.name, doc.index):
        instances = identified(task, doc, _asked(task, doc, shots, style))
        if not instances:
            raise UserError(f"{task.source}: nothing is asked about this document; leave it out of the documents.")
        for instance in instances:
            _check_text(instance.context + (instance.continuation or ""))
        return instances


def _asked(task: Task, doc: Doc, shots: Sequence[Doc], style: Style) -> list[Request]:
    if task.own_requests is not None:
        return task.own_requests(doc, shots, style)
    prompt = "" if task.output_type == "loglikelihood_rolling" else render_prompt(task, doc, shots, style)
    return requests_of(task, doc, prompt, chat=style.chat is not None, choice_space=style.choice_space)


def _check_text(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UserError(
            f"the request holds {text[error.start]!r}, half a character, which no tokenizer takes."
        ) from error
