"""How a choice task asks: `prompt.formulation`, `prompt.choice_prefix` and the orders of `prompt.choice_orders`.

A task's own templates become templates that word the same question otherwise; nothing behind them knows of it.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from string import ascii_uppercase
from typing import Any, NamedTuple, TypeAlias

from hydra_eval.config.prompting import PromptConfig
from hydra_eval.config.schema import RunConfig
from hydra_eval.config.task_config import TaskConfig
from hydra_eval.errors import UserError, known_names
from hydra_eval.records import Doc
from hydra_eval.tasks.cells import Cell
from hydra_eval.tasks.choice_questions import relabelled_choice
from hydra_eval.tasks.choice_reading import Asked, Reader, choices_in, reader_of, white_space
from hydra_eval.tasks.task import Row, Task, Template
from hydra_eval.tasks.templates import once_per_row

log = logging.getLogger(__name__)

Orders: TypeAlias = Callable[[Row, int], tuple[int, ...]]
"""(row, number of its choices) → which of them stands at each place."""
LABELS: dict[str, Callable[[int], list[str]]] = {
    "letters": lambda count: list(ascii_uppercase[:count]),
    "numbers": lambda count: [str(number) for number in range(1, count + 1)],
}
"""`prompt.choice_prefix` → the first labels of its series."""
SHOWING = ("mcf", "hybrid")
"""Formulations that list the choices."""
CUE = "\nAnswer:"
"""Ends a question with a listing whose task writes no cue."""


def shown_order(seed: int, task: str, doc: Doc, choices: int, order: int) -> tuple[int, ...]:
    """Which choice of the task stands at each place under one of `prompt.choice_orders`.

    Order 0 is the task's own. The others turn it by each other number of places once, in a sequence of the document's
    own, then begin again: as many orders as choices bring every choice to every place once. `task` is the task's name
    in its file, `seed` the run's.
    """
    split, position = doc.origin
    turns = random.Random(f"{seed}/{task}/{split}/{position}").sample(range(1, choices), max(choices - 1, 0))
    turn = [0, *turns][order % max(choices, 1)]
    return tuple((place + turn) % choices for place in range(choices))


def check_formulation(task: TaskConfig, prompt: PromptConfig) -> None:
    """Raises UserError for a task that cannot be worded otherwise, before its data is read."""
    option = _option(prompt)
    if option is None:
        return
    where = f"{task.file}: {option}: task '{task.task}'"
    remedy = "Run it by itself without that option."
    if task.table is not None:
        raise UserError(f"{where} is worded by the code of its TASKS_TABLE. {remedy}")
    if task.python_class is not None:
        raise UserError(f"{where} is a Python class, which words its prompts itself. {remedy}")
    if not _is_choice(task):
        return
    if task.process_results is not None:
        raise UserError(
            f"{where} scores its choices by a process_results of its own, which expects them as they are. {remedy}"
        )
    if prompt.formulation == "cf" and prompt.choice_orders > 1:
        raise UserError(
            f"{task.file}: prompt.choice_orders={prompt.choice_orders}: task '{task.task}' shows no choices under "
            "prompt.formulation=cf; take prompt.formulation=mcf."
        )


def say_unconcerned(tasks: Iterable[TaskConfig], prompt: PromptConfig) -> None:
    """One line names the tasks without choices; UserError where that is all of the run's."""
    option, tasks = _option(prompt), list(tasks)
    others = [f"{task.task} ({task.output_type})" for task in tasks if not (_words_itself(task) or _is_choice(task))]
    if option is None or not others:
        return
    if len(others) == len(tasks):
        raise UserError(f"{option} is for multiple_choice tasks, and this run has none: {known_names(others)}.")
    log.warning("%s is for multiple_choice tasks and has no effect on %s.", option, known_names(others))


def say_one_place(tasks: Iterable[Task], prompt: PromptConfig) -> None:
    """One line per task whose right choice would always be shown at the same place: some files write it first."""
    if prompt.formulation not in SHOWING or prompt.choice_orders > 1:
        return
    for task in {task.base_name: task for task in tasks if task.template.own is not None}.values():
        places = (task.template.target(doc.row) for doc in task.all_docs)
        first = next(places)
        if len(task.all_docs) > 1 and all(place == first for place in places):
            log.warning(
                "task '%s': the right choice stands at the same place in all %d documents, where a model may "
                "expect it; prompt.choice_orders shows it at others.",
                *(task.base_name, len(task.all_docs)),
            )


def _is_choice(task: TaskConfig) -> bool:
    return task.output_type == "multiple_choice"


def _words_itself(task: TaskConfig) -> bool:
    return task.table is not None or task.python_class is not None


def _option(prompt: PromptConfig) -> str | None:
    """What the run asks for, as it is typed; None where it is the task's own wording."""
    if prompt.formulation != "task":
        return f"prompt.formulation={prompt.formulation}"
    return f"prompt.choice_orders={prompt.choice_orders}" if prompt.choice_orders > 1 else None


def worded(
    cell: Cell, task: TaskConfig, *, config: RunConfig, docs: Sequence[Doc], templates: tuple[Template, Template]
) -> tuple[Template, Template]:
    """The templates of the documents and of their examples under the run's formulation and the cell's order.

    The very same ones where nothing is asked for, or where the contexts differ per choice under `cf`: those show
    nothing as it is.
    """
    how, (template, shot_template) = config.prompt.formulation, templates
    if not _is_choice(task) or (how == "task" and cell.order == 0):
        return templates
    reader = reader_of(task, docs, template, must_show=how == "task", option=_option(config.prompt) or "choice order")
    if reader.fills_contexts and how == "cf":
        return templates
    wording = Wording(how=how, labels=LABELS[config.prompt.choice_prefix], where=reader.where)
    orders = _orders(cell, task, config, docs) if cell.order else _as_written
    shown = _reworded(template, reader, wording, orders)
    return shown, shot_template if how == "task" else _example(_reworded(shot_template, reader, wording, _as_written))


def _as_written(row: Row, choices: int) -> tuple[int, ...]:
    return tuple(range(choices))


def _orders(cell: Cell, task: TaskConfig, config: RunConfig, docs: Sequence[Doc]) -> Orders:
    """A template gets rows: each document has a row object of its own, by which it is known again."""
    doc_of = {id(doc.row): doc for doc in docs}
    return lambda row, choices: shown_order(config.seed, task.task, doc_of[id(row)], choices, cell.order)


class Worded(NamedTuple):
    """What is asked of one row: in place of what its task's templates give."""

    text: str
    choices: list[str]
    target: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """A formulation, as it words one question after the other."""

    how: str
    labels: Callable[[int], list[str]]
    where: str
    """For messages."""

    def __call__(self, asked: Asked, order: Sequence[int]) -> Worded:
        """`order`: which of the options stands at each place."""
        options, texts = [asked.question.options[place] for place in order], [asked.texts[place] for place in order]
        if self.how == "cf":
            text, choices = asked.question.bare(), texts
        elif self.how == "task":
            text, choices = asked.question.listed(options), list(asked.choices) if asked.labelled else texts
        else:
            labels = self._labels(len(options))
            text = asked.question.labelled(options, labels, cue="\n" if asked.has_prefix else CUE)
            choices = texts if self.how == "hybrid" else _scored_labels(asked, labels)
        return Worded(text, choices, _moved(asked.gold, order, choices))

    def _labels(self, count: int) -> list[str]:
        labels = self.labels(count)
        if len(labels) < count:
            raise UserError(
                f"{self.where}: this question has {count} choices, and there are {len(labels)} letters; "
                "prompt.choice_prefix=numbers goes on."
            )
        return labels


def _scored_labels(asked: Asked, labels: Sequence[str]) -> list[str]:
    """In the form of the task's own labels, such as "(A)"; else led by white space where only its choices bring any."""
    pairs = zip(asked.choices, labels, strict=True)
    if asked.labelled:
        return [relabelled_choice(choice, label) for choice, label in pairs]
    return [("" if asked.is_spaced else white_space(choice)) + label for choice, label in pairs]


def _moved(gold: Any, order: Sequence[int], choices: Sequence[str]) -> Any:
    """The places at which the right ones are shown. A text that was no choice must not become one."""
    if isinstance(gold, list):
        return [_moved(one, order, choices) for one in gold]
    if isinstance(gold, str):
        return len(choices) if gold in choices else gold
    return order.index(gold) if gold in order else gold


def _reworded(template: Template, reader: Reader, wording: Wording, orders: Orders) -> Template:
    def word(row: Row) -> Worded:
        asked = reader.read(template, row)
        return wording(asked, orders(row, len(asked.question.options)))

    once = once_per_row(word)
    return replace(
        template,
        own=template,
        text=lambda row: once(row).text,
        choices=lambda row: once(row).choices,
        target=lambda row: once(row).target,
    )


def _example(template: Template) -> Template:
    """The same with the scored text in place of its index: what an example shows."""

    def target(row: Row) -> Any:
        gold, choices = template.target(row), choices_in(template, row, "")
        return [_shown(one, choices) for one in gold] if isinstance(gold, list) else _shown(gold, choices)

    return replace(template, target=target)


def _shown(gold: Any, choices: Sequence[str]) -> str:
    if not isinstance(gold, int) or not -len(choices) <= gold < len(choices):
        raise UserError(f"doc_to_target of an example must give one of its {len(choices)} choices, but gave {gold!r}.")
    return choices[gold]
