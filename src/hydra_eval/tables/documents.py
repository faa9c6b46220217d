"""Rows of the data set become lighteval's documents: prompt function, dropped rows, fixed order."""

from __future__ import annotations

import json
import logging
import random
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hydra_eval.errors import UserError, noted
from hydra_eval.records import Doc
from hydra_eval.sample_file import as_plain

log = logging.getLogger(__name__)

ORDER_SEED = 42
"""Every run has lighteval's order of documents."""
SHOWN = ("instruction", "specific", "unconditioned_query", "original_query", "fewshot_sorting_class")


class DocRow(dict[str, Any]):
    """What a prompt function made of a row, in JSON's types, with the document itself at hand.

    Sent to another process it is a plain mapping.
    """

    doc: Any

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """How the rows of one entry are read."""

    entry: Any
    where: str
    """File and task, for messages."""
    splits: Mapping[str, Any]

    def docs(self, name: str, splits: Sequence[str], *, as_shots: bool) -> list[Doc]:
        """The documents of these splits in file order. `position` is the number of the row after `hf_filter`."""
        found: list[Doc] = []
        for split in splits:
            kept = 0
            rows = self._rows(split)
            for position, row in enumerate(rows):
                made = self._made(row, split, position, as_shots=as_shots)
                if made is not None:
                    found.append(Doc(task=name, split=split, index=len(found), row=doc_row(made), position=position))
                    kept += 1
            self._say(split, len(rows), kept, as_shots=as_shots)
        return found

    def _rows(self, split: str) -> list[dict[str, Any]]:
        if split not in self.splits:
            raise UserError(f"{self.where}: the data set has no split '{split}'. Splits: {', '.join(self.splits)}.")
        rows = [dict(row) for row in self.splits[split]]
        keeps = self.entry.hf_filter
        if keeps is None:
            return rows
        with noted(f"in hf_filter of {self.where}, split '{split}'"):
            return [row for row in rows if keeps(row)]

    def _made(self, row: dict[str, Any], split: str, position: int, *, as_shots: bool) -> Any:
        """lighteval's document, or None where the prompt function leaves the row out."""
        with noted(f"in the prompt_function of {self.where}, split '{split}', row {position}"):
            made = self.entry.prompt_function({**row, "__few_shots": as_shots, "__index": position}, self.entry.name)
        if made is None or made == []:
            return None
        if not isinstance(getattr(made, "query", None), str):
            shown = textwrap.shorten(repr(made), 200, placeholder=" …")
            raise UserError(
                f"{self.where}: its prompt_function must give a Doc with a text as query, but gave {shown} for row "
                f"{position}."
            )
        if getattr(made, "images", None):
            raise UserError(f"{self.where}: images are not supported yet.")
        made.id = str(position)
        return made

    def _say(self, split: str, total: int, kept: int, *, as_shots: bool) -> None:
        if kept < total:
            level = logging.WARNING if kept < total / 2 else logging.INFO
            log.log(level, "%s: split '%s': %d of %d rows left out.", self.where, split, total - kept, total)
        if total and not kept and not as_shots:
            raise UserError(f"{self.where}: its prompt_function leaves out all {total} rows of split '{split}'.")


def doc_row(made: Any) -> DocRow:
    shown = {"query": made.query, "choices": made.choices, "gold_index": made.gold_index}
    shown |= {name: value for name in SHOWN if (value := getattr(made, name, None)) is not None}
    row = DocRow(json.loads(json.dumps(shown, default=as_plain)))
    row.doc = made
    return row


def in_order(docs: Sequence[Doc], seed: int) -> tuple[Doc, ...]:
    """lighteval's order; a document's index is its place in it, so that a limit takes the first ones."""
    shuffled = list(docs)
    random.Random(seed).shuffle(shuffled)
    return numbered(shuffled)


def numbered(docs: Iterable[Doc]) -> tuple[Doc, ...]:
    return tuple(
        Doc(task=doc.task, split=doc.split, index=index, row=doc.row, position=doc.position)
        for index, doc in enumerate(docs)
    )


def without_repeats(docs: Sequence[Doc]) -> Iterator[Doc]:
    """The first of several documents with equal content."""
    seen: set[str] = set()
    for doc in docs:
        content = json.dumps(doc.row, sort_keys=True, default=as_plain)
        if content not in seen:
            yield doc
        seen.add(content)


def first_of_equal_rows(docs: Sequence[Doc]) -> Iterator[Doc]:
    """What lighteval's removal of duplicates leaves: equal documents count as such only under equal row numbers."""
    seen: set[tuple[int | None, str]] = set()
    for doc in docs:
        content = (doc.position, json.dumps(doc.row, sort_keys=True, default=as_plain))
        if content not in seen:
            yield doc
        seen.add(content)


def pool_splits(entry: Any, evaluated: Sequence[str]) -> list[str]:
    """Where examples come from: the first split not evaluated that is named like training data, else the evaluated."""
    free = [split for split in entry.hf_avail_splits or () if split not in evaluated]
    for word in ("train", "dev", "valid", "default"):
        for split in free:
            if word in split:
                return [split]
    return list(evaluated)
