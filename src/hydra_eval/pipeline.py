"""The stages in their order: tasks → shots → prompts → requests → packets, and replies → rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hydra_eval.errors import UserError, at_document
from hydra_eval.fewshot import Picks, pick_shots
from hydra_eval.instances import make_instances
from hydra_eval.plan import plan_packets
from hydra_eval.prompts import Style, render_prompt
from hydra_eval.records import Doc, DocKey, Instance, InstanceKey, Packet, Response, SampleRow
from hydra_eval.scoring import check_filters, score_document
from hydra_eval.tasks.task import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Everything that is known before the model is asked; the same on every rank."""

    tasks: tuple[Task, ...]
    picks: Mapping[str, Picks]
    """Task name → examples per document."""
    packets: tuple[Packet, ...]

    @property
    def requests(self) -> int:
        return sum(len(packet.instances) for packet in self.packets)


def prepare(tasks: Sequence[Task], style: Style, *, batch_tokens: int) -> Work:
    """Examples, prompts and requests of every document, cut into packets."""
    picks = {task.name: pick_shots(task) for task in tasks}
    instances: list[Instance] = []
    for task in tasks:
        own = _requests(task, picks[task.name], style)
        check_filters(task, own)
        instances += own
    return Work(tasks=tuple(tasks), picks=picks, packets=tuple(plan_packets(instances, batch_tokens=batch_tokens)))


def score(work: Work, packets: Sequence[Packet], responses: Sequence[Response]) -> list[SampleRow]:
    """The rows of every document that `packets` hold, from the responses to their requests."""
    by_key: dict[InstanceKey, Response] = {response.key: response for response in responses}
    by_doc: dict[DocKey, list[Instance]] = defaultdict(list)
    for packet in packets:
        for instance in packet.instances:
            by_doc[DocKey(instance.key.task, instance.key.doc)].append(instance)
    tasks = {task.name: task for task in work.tasks}
    rows: list[SampleRow] = []
    for (name, index), instances in by_doc.items():
        task = tasks[name]
        with at_document(name, index):
            answered = [(instance, by_key[instance.key]) for instance in instances]
            rows += score_document(task, task.docs[index], work.picks[name].shots[index], answered)
    return rows


def _requests(task: Task, picks: Picks, style: Style) -> list[Instance]:
    return [instance for doc in task.docs for instance in _document_requests(task, doc, picks.shots[doc.index], style)]


def _document_requests(task: Task, doc: Doc, shots: Sequence[Doc], style: Style) -> list[Instance]:
    with at_document(task.name, doc.index):
        prompt = "" if task.output_type == "loglikelihood_rolling" else render_prompt(task, doc, shots, style)
        instances = make_instances(task, doc, prompt, chat=style.chat is not None)
        for instance in instances:
            _check_text(instance.context + (instance.continuation or ""))
        return instances


def _check_text(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UserError(
            f"the request holds {text[error.start]!r}, half a character, which no tokenizer takes."
        ) from error
