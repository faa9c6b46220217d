"""The rule that no document is its own example: not by its place, not by its row, and not by what it says."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from hydra_eval.records import Doc
from hydra_eval.tasks.task import Row, Template


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """How documents and examples are worded. Two rows with equal texts and different ids are twins."""

    template: Template
    shot_template: Template

    def leaks(self, shot: Doc, doc: Doc) -> bool:
        """The example is the document: the same place in the same split, the same row, or the same text."""
        return shot.origin == doc.origin or shot.row == doc.row or self._says_the_same(shot, doc)

    def _says_the_same(self, shot: Doc, doc: Doc) -> bool:
        return question(self.shot_template, shot.row) == question(self.template, doc.row) and (
            answers(self.shot_template, shot.row) == answers(self.template, doc.row)
        )

    def suspects(self, pool: Sequence[Doc]) -> Callable[[Doc], Iterator[int]]:
        """Document → the places in the pool that may leak, for a strategy that must see all of the pool at once."""
        places: dict[Any, list[int]] = defaultdict(list)
        for place, shot in enumerate(pool):
            for mark in (shot.origin, _plain_values(shot.row), question(self.shot_template, shot.row)):
                places[mark].append(place)

        def of(doc: Doc) -> Iterator[int]:
            for mark in (doc.origin, _plain_values(doc.row), question(self.template, doc.row)):
                yield from places.get(mark, ())

        return of


def question(template: Template, row: Row) -> str:
    """What is asked; the choices, where they are all that is asked."""
    text = template.text(row)
    if isinstance(text, str) and text.strip():
        return text
    return "\n".join(map(str, template.choices(row))) if template.choices is not None else str(text)


def answers(template: Template, row: Row) -> tuple[str, ...]:
    """The right answers as text, choices by their words."""
    target = template.target(row)
    choices = [] if template.choices is None else template.choices(row)
    return tuple(_in_words(one, choices) for one in (target if isinstance(target, list | tuple) else [target]))


def _in_words(target: Any, choices: Sequence[Any]) -> str:
    is_choice = isinstance(target, Integral) and -len(choices) <= int(target) < len(choices)
    return str(choices[int(target)] if is_choice else target)


def _plain_values(row: Row) -> frozenset[tuple[str, Any]]:
    """Equal for equal rows."""
    return frozenset((name, value) for name, value in row.items() if isinstance(value, str | int | float | None))
