"""A task's documents, numbered: the rows of its evaluation splits one after the other, in a fixed order."""

from __future__ import annotations

import logging
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hydra_eval.config.task_config import TaskConfig
from hydra_eval.data.facts import SplitFacts
from hydra_eval.data.rows import SplitRows
from hydra_eval.data.task_data import TaskData
from hydra_eval.errors import UserError
from hydra_eval.records import Doc

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Documents:
    """Numbered rows, and where they come from."""

    docs: tuple[Doc, ...]
    splits: tuple[SplitFacts, ...]


def as_splits(value: str | Sequence[str] | None) -> tuple[str, ...]:
    """One split's name, or several, as a tuple."""
    return () if not value else (value,) if isinstance(value, str) else tuple(value)


def evaluated_splits(task: TaskConfig) -> tuple[str, ...]:
    """`test_split`, else `validation_split`; either may be a list."""
    splits = as_splits(task.test_split) or as_splits(task.validation_split)
    if not splits:
        raise UserError(f"{task.file}: neither 'test_split' nor 'validation_split' says what to evaluate.")
    return splits


def documents(name: str, task: TaskConfig, data: TaskData, process: Any) -> Documents:
    """The documents of the cell called `name` after the task's hook, in the run's order.

    Raises UserError for an unknown split, and where no row is left.
    """
    found = [data.shelf.rows(data.source, split, process, purpose="documents") for split in evaluated_splits(task)]
    facts = tuple(split.facts for split in found)
    for split in facts:
        _say_dropped(split, task.file)
    if not any(split.rows for split in found):
        raise UserError(f"{task.file}: {_nothing_left(facts)}")
    return Documents(docs=numbered(name, found, seed=data.config.shuffle_seed), splits=facts)


def numbered(name: str, splits: Sequence[SplitRows], *, seed: int | None = None) -> tuple[Doc, ...]:
    """Rows as documents. Each has a row of its own, which a task's code may change without changing another's."""
    places = [(split.facts.split, position, row) for split in splits for position, row in enumerate(split.rows)]
    if seed is not None:
        random.Random(seed).shuffle(places)
    moved = seed is not None or len(splits) > 1
    return tuple(
        Doc(task=name, split=split, index=index, row=dict(row), position=position if moved else None)
        for index, (split, position, row) in enumerate(places)
    )


def _say_dropped(facts: SplitFacts, where: str) -> None:
    if facts.dropped * 2 > facts.read and facts.kept:
        log.warning(
            "%s: process_docs dropped %d of the %d rows of split '%s'.", where, facts.dropped, facts.read, facts.split
        )


def _nothing_left(splits: Sequence[SplitFacts]) -> str:
    names = " and ".join(f"'{facts.split}'" for facts in splits)
    which = f"the split {names} has" if len(splits) == 1 else f"the splits {names} have"
    read = sum(facts.read for facts in splits)
    why = f"process_docs dropped all {read} rows" if read else "there is no row in the data set"
    return f"{which} no documents left to evaluate: {why}."
