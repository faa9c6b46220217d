"""What a choice task asks, read from what its templates give: labels or texts, listed or not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from string import ascii_lowercase, ascii_uppercase
from typing import Any, NoReturn

from hydra_eval.config.task_config import TaskConfig
from hydra_eval.errors import UserError, at_document
from hydra_eval.records import Doc
from hydra_eval.tasks.choice_questions import (
    Question,
    Unreadable,
    carries_labels,
    find_options,
    is_series,
    label_of,
    lists_labels,
    read_options,
    unlisted,
)
from hydra_eval.tasks.task import Row, Template
from hydra_eval.tasks.templates import choice_field, text_field

SHOWN = 200
REMEDY = (
    "State them in the task file: doc_to_options, their texts (a column, a template or a !function that gives a list), "
    "and doc_to_question, the text without them."
)
NOT_SHOWN = "the text shows no choices to be put in another order; take prompt.formulation=mcf."


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question with everything that a wording of it needs."""

    question: Question
    choices: Sequence[str]
    """As the task scores them."""
    labelled: bool
    """They are labels."""
    texts: Sequence[str]
    """What is scored where texts are: led by the white space that the task writes before its choices."""
    gold: Any
    """Index of the right choice, or a list of them; what is none of the choices stays as it is."""
    has_prefix: bool
    """The reply is begun for the model."""
    is_spaced: bool
    """The delimiter brings the white space before a choice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """How one task's questions are read; the same for its documents and its examples."""

    where: str
    """File and option, for messages."""
    labelled: bool
    fills_contexts: bool
    """Its choices are contexts, one of which is filled right."""
    must_show: bool
    """A listing is wanted, and none may be added."""
    question: Callable[[Row], Any] | None
    options: Callable[[Row], list[str]] | None
    """`doc_to_question` and `doc_to_options`: what the task file says in so many words."""

    def read(self, template: Template, row: Row) -> Asked:
        """Raises UserError where the options cannot be told from the text."""
        choices = choices_in(template, row, self.where)
        gold = template.text(row) if self.fills_contexts else template.target(row)
        question = self._question(template, row, choices)
        if len(question.options) != len(choices):
            raise UserError(f"{self.where}: {len(question.options)} doc_to_options for {len(choices)} doc_to_choice.")
        as_they_are = not (self.labelled or self.options or self.fills_contexts)
        pairs = zip(choices, question.options, strict=True)
        return Asked(
            question=question,
            choices=choices,
            labelled=self.labelled,
            texts=choices if as_they_are else [white_space(choice) + option for choice, option in pairs],
            gold=_index(gold, choices),
            has_prefix=bool(template.gen_prefix(row)),
            is_spaced=template.target_delimiter[-1:].isspace(),
        )

    def _question(self, template: Template, row: Row, choices: Sequence[str]) -> Question:
        stated = None if self.options is None else self.options(row)
        if self.fills_contexts and self.must_show:
            raise UserError(f"{self.where}: {NOT_SHOWN}")
        if self.fills_contexts and (self.question is None or stated is None):
            self._refuse("its choices are contexts to be scored by what follows them, with no question", None)
        text = template.text(row)
        try:
            if self.question is not None and not self.must_show:
                options = stated if stated is not None else self._listed(text, choices, None, row).options
                return unlisted(str(self.question(row)), options)
            found = self._listed(text, choices, stated, row)
        except Unreadable as error:
            if self.must_show and self.options is not None and self.question is not None:
                raise UserError(f"{self.where}: {NOT_SHOWN}") from error
            self._refuse(str(error), text)
        if self.must_show and not found.markers:
            raise UserError(f"{self.where}: {NOT_SHOWN}")
        return found

    def _listed(self, text: Any, choices: Sequence[str], stated: Sequence[str] | None, row: Row) -> Question:
        if not isinstance(text, str):
            raise UserError(f"{self.where}: doc_to_text must give text, but gave {text!r}.")
        if stated is None and self.labelled:
            return read_options(text, [label_of(choice) or choice for choice in choices], row)
        known = choices if stated is None else stated
        found = find_options(text, known)
        if found is None and carries_labels(known):
            raise Unreadable(f"they bring labels of their own, such as {known[0]!r}")
        for letters in (ascii_uppercase, ascii_lowercase):
            if found is None and 1 < len(known) <= len(letters) and lists_labels(text, letters[: len(known)]):
                raise Unreadable(f"it lists something under {letters[0]}, {letters[1]}, … that is not its choices")
        return found or unlisted(text, known)

    def _refuse(self, why: str, text: Any) -> NoReturn:
        shown = "" if text is None else f" The text ends: {text[-SHOWN:]!r}."
        raise UserError(f"{self.where}: the options cannot be told from the task's text: {why}. {REMEDY}{shown}")


def reader_of(task: TaskConfig, docs: Sequence[Doc], template: Template, *, must_show: bool, option: str) -> Reader:
    """Looks at the choices of all documents, so that neither a limit nor one odd document changes what they are."""
    columns, where = tuple(docs[0].row), f"{task.file}: {option}"
    question = task.doc_to_question
    with at_document(docs[0].task, docs[0].index):
        fills_contexts = isinstance(template.text(docs[0].row), int)
    return Reader(
        where=where,
        labelled=not fills_contexts and _are_labels(docs, template, where),
        fills_contexts=fills_contexts,
        must_show=must_show,
        question=None
        if question is None
        else text_field(question, columns=columns, has_choices=False, where=f"{task.file}: doc_to_question"),
        options=choice_field(task.doc_to_options, columns=columns, where=f"{task.file}: doc_to_options"),
    )


def _are_labels(docs: Sequence[Doc], template: Template, where: str) -> bool:
    """Those of every document look it, and are letters or numbers in a row, or stand before lines of the text."""
    for doc in docs:
        with at_document(doc.task, doc.index):
            if not all(map(label_of, choices_in(template, doc.row, where))):
                return False
    first = docs[0].row
    labels = [label_of(choice) or "" for choice in choices_in(template, first, where)]
    return is_series(labels) or lists_labels(str(template.text(first)), labels)


def choices_in(template: Template, row: Row, where: str) -> Sequence[str]:
    if template.choices is None:
        raise UserError(f"{where}: a multiple_choice task needs 'doc_to_choice'.")
    choices = template.choices(row)
    if not (isinstance(choices, list | tuple) and choices and all(isinstance(choice, str) for choice in choices)):
        raise UserError(f"{where}: doc_to_choice must give a list of strings, but gave {choices!r}.")
    return choices


def white_space(choice: str) -> str:
    """That before a choice."""
    return choice[: len(choice) - len(choice.lstrip())]


def _index(gold: Any, choices: Sequence[str]) -> Any:
    if isinstance(gold, list):
        return [_index(one, choices) for one in gold]
    if isinstance(gold, str):
        return choices.index(gold) if gold in choices else gold
    number = gold.item() if getattr(gold, "ndim", None) == 0 else gold
    return int(number) if isinstance(number, int | float) and number % 1 == 0 else gold
