"""Where the picked choice stands, over several orders of the choices: what a model that prefers a letter gives away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import NamedTuple

from hydra_eval.metrics.base import ChoiceOutcome
from hydra_eval.records import Doc, SampleRow
from hydra_eval.results.aggregate import TaskResult
from hydra_eval.scoring import outcome
from hydra_eval.tasks.formulations import shown_order
from hydra_eval.tasks.task import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Positions:
    """Counts over documents and orders, as one filter pipeline leaves the log-likelihoods."""

    documents: int
    flipped: int
    """Documents whose picked answer, whatever its place, is not the same in all orders."""
    picked: tuple[int, ...]
    """How often the likeliest choice stood first, second, …."""
    gold: tuple[int, ...]
    """How often a right one did."""

    @property
    def flip_rate(self) -> float:
        return self.flipped / self.documents


class _Pick(NamedTuple):
    choices: int
    place: int
    answer: int
    """Number of the choice in the document's own order."""
    gold: tuple[int, ...]
    """Places of the right choices."""


def positions(cells: Sequence[TaskResult], *, seed: int) -> dict[str, Positions]:
    """Filter → counts over `cells`, one task in several orders; empty for a task whose choices have one order.

    `seed` is the run's, which turns the choices.
    """
    tasks = [cell.task for cell in cells]
    if len(cells) == 1 or any(task.output_type != "multiple_choice" or task.process_results for task in tasks):
        return {}
    by_filter: dict[str, dict[int, list[_Pick]]] = {}
    for cell in cells:
        for row, pick in _picks(cell, seed):
            by_filter.setdefault(row.filter, {}).setdefault(row.doc_id, []).append(pick)
    # A document that is left out of one cell, too long for the model's window, cannot be compared.
    whole = {name: [picks for picks in found.values() if len(picks) == len(cells)] for name, found in by_filter.items()}
    return {name: _counted(by_doc) for name, by_doc in whole.items() if by_doc}


def added(of_tasks: Sequence[Mapping[str, Positions]]) -> dict[str, Positions]:
    """The counts of several tasks together."""
    names = dict.fromkeys(name for of_task in of_tasks for name in of_task)
    return {name: _sum([of_task[name] for of_task in of_tasks if name in of_task]) for name in names}


def _picks(cell: TaskResult, seed: int) -> Iterator[tuple[SampleRow, _Pick]]:
    """Of every document that is scored."""
    docs = {doc.index: doc for doc in cell.task.docs}
    for row in cell.rows:
        if row.scores:
            yield row, _pick(cell.task, docs[row.doc_id], row, seed=seed)


def _pick(task: Task, doc: Doc, row: SampleRow, *, seed: int) -> _Pick:
    seen = outcome(task, doc, list(row.filtered_resps))
    assert isinstance(seen, ChoiceOutcome)
    place = max(range(len(seen.logprobs)), key=seen.logprobs.__getitem__)
    shown = shown_order(seed, task.base_name, doc, len(seen.logprobs), task.order)
    gold = [seen.gold] if isinstance(seen.gold, int) else seen.gold
    return _Pick(len(shown), place, shown[place], tuple(index for index in gold if index >= 0))


def _counted(by_doc: Sequence[Sequence[_Pick]]) -> Positions:
    picks = [pick for of_doc in by_doc for pick in of_doc]
    places = max(pick.choices for pick in picks)
    return Positions(
        documents=len(by_doc),
        flipped=sum(len({pick.answer for pick in of_doc}) > 1 for of_doc in by_doc),
        picked=_by_place([pick.place for pick in picks], places),
        gold=_by_place([place for pick in picks for place in pick.gold], places),
    )


def _by_place(found: Sequence[int], places: int) -> tuple[int, ...]:
    counts = Counter(found)
    return tuple(counts[place] for place in range(places))


def _sum(parts: Sequence[Positions]) -> Positions:
    return Positions(
        documents=sum(part.documents for part in parts),
        flipped=sum(part.flipped for part in parts),
        picked=_sums([part.picked for part in parts]),
        gold=_sums([part.gold for part in parts]),
    )


def _sums(rows: Sequence[Sequence[int]]) -> tuple[int, ...]:
    return tuple(map(sum, zip_longest(*rows, fillvalue=0)))
