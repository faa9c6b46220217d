"""What is held out of the training text, and the documents of both splits of each task."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from random import Random
from typing import Generic, TypeVar, cast

from hydra_eval.demo import world
from hydra_eval.demo.documents import Animals, Document, NumberPair, ledger_document, scales_document, sums_document

SEED = 1234
SMALLEST, LARGEST = 2, 60
TEST_ROWS, POOL_ROWS = 360, 48

KeyT = TypeVar("KeyT", NumberPair, Animals)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut(Generic[KeyT]):
    """All number pairs, or all sets of four animals, cut in two."""

    held: tuple[KeyT, ...]
    """Only in evaluated documents, each in one per task."""
    free: tuple[KeyT, ...]
    """In the training text and in the few-shot pools."""


def _cut(name: str, keys: Sequence[KeyT]) -> Cut[KeyT]:
    shuffled = Random(f"{SEED}/{name}").sample(keys, len(keys))
    return Cut(held=tuple(shuffled[:TEST_ROWS]), free=tuple(shuffled[TEST_ROWS:]))


@cache
def number_pairs() -> Cut[NumberPair]:
    """Two different numbers, the smaller first: held out in both orders, for both signs and in both tasks with sums."""
    return _cut("numbers", list(combinations(range(SMALLEST, LARGEST + 1), 2)))


@cache
def animal_sets() -> Cut[Animals]:
    """Four animals in the order of their weight: held out in every order and for both questions."""
    return _cut("animals", cast("list[Animals]", list(combinations(world.BY_WEIGHT, 4))))


def sums_split(split: str) -> list[Document]:
    rng, pairs = _draw("demo_sums", split, number_pairs())
    return [sums_document(rng, pair) for pair in pairs]


def scales_split(split: str) -> list[Document]:
    """Each label in a quarter of the rows, and each of the two questions in half of every label's."""
    rng, sets = _draw("demo_scales", split, animal_sets())
    return [_scales_row(rng, animals, row=row) for row, animals in enumerate(sets)]


def _scales_row(rng: Random, animals: Animals, *, row: int) -> Document:
    heaviest = row // 4 % 2 == 0
    answer = animals[-1] if heaviest else animals[0]
    others = rng.sample([animal for animal in animals if animal != answer], 3)
    label = row % 4
    return scales_document(cast("Animals", (*others[:label], answer, *others[label:])), heaviest=heaviest)


def ledger_split(split: str) -> list[Document]:
    """One clerk writes all entries."""
    rng, pairs = _draw("demo_ledger", split, number_pairs())
    return [ledger_document(rng, pair, clerk=world.CLERK_OF_THE_TASK) for pair in pairs]


SPLITS: dict[str, Callable[[str], list[Document]]] = {
    "demo_sums": sums_split,
    "demo_scales": scales_split,
    "demo_ledger": ledger_split,
}
"""Task → its documents of the split `train` (the few-shot pool) or `test` (evaluated)."""


def _draw(task: str, split: str, cut: Cut[KeyT]) -> tuple[Random, list[KeyT]]:
    rng = Random(f"{SEED}/{task}/{split}")
    keys, rows = (cut.held, TEST_ROWS) if split == "test" else (cut.free, POOL_ROWS)
    return rng, rng.sample(keys, rows)
