"""Which requests are asked a second time."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from hydra_eval.records import Doc, DocKey, Instance
from hydra_eval.tasks.task import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Some documents of each task of a run; the same on every rank."""

    tasks: Mapping[str, Task]
    docs: Mapping[DocKey, Doc]

    def asks(self, instance: Instance) -> bool:
        """A request of these documents whose answer leaves nothing to chance. Repeats of one are one."""
        return document_of(instance) in self.docs and instance.key.repeat == 0 and not is_sampled(instance)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """How much of a task is to be asked again."""

    requests: int
    sampled: int
    """Replies of its documents that are drawn by chance, and left out."""


def choose_documents(tasks: Sequence[Task], *, count: int, seed: int) -> Sample:
    """At most `count` documents of each task, by chance; the same ones in all cells of a task."""
    docs = {DocKey(task.name, doc.index): doc for task in tasks for doc in _choose(task, count, seed)}
    return Sample(tasks={task.name: task for task in tasks}, docs=docs)


def wanted_of(sample: Sample, instances: Iterable[Instance]) -> dict[str, Wanted]:
    """By task. `instances` are all requests of the sample's documents."""
    requests, sampled = dict.fromkeys(sample.tasks, 0), dict.fromkeys(sample.tasks, 0)
    for instance in instances:
        requests[instance.key.task] += sample.asks(instance)
        sampled[instance.key.task] += is_sampled(instance)
    return {task: Wanted(requests=requests[task], sampled=sampled[task]) for task in sample.tasks}


def document_of(instance: Instance) -> DocKey:
    return DocKey(instance.key.task, instance.key.doc)


def is_sampled(instance: Instance) -> bool:
    return instance.generation is not None and instance.generation.do_sample


def _choose(task: Task, count: int, seed: int) -> Sequence[Doc]:
    generator = random.Random(f"{seed}/numerics/{task.base_name}")
    return task.docs if len(task.docs) <= count else generator.sample(task.docs, count)
