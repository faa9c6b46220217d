"""The stages in their order: tasks → shots → prompts → requests → packets, and replies → rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hydra_eval.errors import UserError, at_document
from hydra_eval.fewshot import Picks, pick_shots
from hydra_eval.instances import identified, requests_of
from hydra_eval.plan import plan_packets
from hydra_eval.prompts import render_prompt
from hydra_eval.records import Doc, DocKey, Instance, InstanceKey, Packet, Request, Response, SampleRow
from hydra_eval.scoring import Answered, check_filters, check_targets, score_documents
from hydra_eval.style import Style
from hydra_eval.tasks.task import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Everything that is known before the model is asked; the same on every rank."""

    tasks: tuple[Task, ...]
    picks: Mapping[str, Picks]
    """Task name → examples per document."""
    packets: tuple[Packet, ...]
    docs: Mapping[DocKey, Doc]
    requests_of: Mapping[DocKey, tuple[Instance, ...]]
    """Every request of a document, in order."""

    @property
    def requests(self) -> int:
        return sum(map(len, self.requests_of.values()))


def prepare(tasks: Sequence[Task], style: Style, *, batch_tokens: int) -> Work:
    """Examples, prompts and requests of every document, cut into packets."""
    picks = {task.name: pick_shots(task) for task in tasks}
    requests: dict[DocKey, tuple[Instance, ...]] = {}
    for task in tasks:
        own = {
            doc.key: tuple(document_requests(task, doc, picks[task.name].shots[doc.index], style)) for doc in task.docs
        }
        check_filters(task, own[task.docs[0].key])
        check_targets(task)
        requests |= own
    instances = (instance for of_document in requests.values() for instance in of_document)
    return Work(
        tasks=tuple(tasks),
        picks=picks,
        packets=tuple(plan_packets(instances, batch_tokens=batch_tokens)),
        docs={doc.key: doc for task in tasks for doc in task.docs},
        requests_of=requests,
    )


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
        found = [(instance, by_key[instance.key]) for instance in work.requests_of[key] if instance.key in by_key]
        if len(found) < len(work.requests_of[key]):
            loose += [response for _, response in found]
            continue
        complete[key.task].append(Answered(work.docs[key], work.picks[key.task].shots[key.doc], found))
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
    return requests_of(task, doc, prompt, chat=style.chat is not None)


def _check_text(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UserError(
            f"the request holds {text[error.start]!r}, half a character, which no tokenizer takes."
        ) from error
