"""The training text: runs of answered documents of one task, from numbers and animals that are not held out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import cast

from hydra_eval.demo import world
from hydra_eval.demo.documents import Animals, Document, ledger_document, scales_document, sums_document
from hydra_eval.demo.splits import SEED, animal_sets, number_pairs

SEPARATOR = "\n\n"
"""Between documents, as between the examples of a prompt."""
RUNS = 28_800
"""Enough for scores that leave something to compare; twice as many solve two of the three tasks."""
BATCH = 72
"""Runs in one training step, all with as many documents, so that little is padding."""
SHORT, LONG = 3, 6
"""Documents in a run; every fourth batch is of long ones, as a prompt with five examples is."""


def sums_run(rng: Random, documents: int) -> list[Document]:
    return [sums_document(rng, rng.choice(number_pairs().free)) for _ in range(documents)]


def scales_run(rng: Random, documents: int) -> list[Document]:
    return [_weighing(rng) for _ in range(documents)]


def _weighing(rng: Random) -> Document:
    animals = cast("Animals", tuple(rng.sample(rng.choice(animal_sets().free), 4)))
    return scales_document(animals, heaviest=rng.random() < 0.5)


def ledger_run(rng: Random, documents: int) -> list[Document]:
    """All by one clerk, drawn for this run: only the entries before tell how the next one is written."""
    clerk = rng.choice(world.LEADS), rng.choice(world.MARKS)
    return [ledger_document(rng, rng.choice(number_pairs().free), clerk=clerk) for _ in range(documents)]


KINDS: tuple[Callable[[Random, int], list[Document]], ...] = (*6 * (sums_run,), *3 * (ledger_run,), scales_run)
"""Sums are hardest to learn and weights easiest."""


def training_runs(runs: int = RUNS) -> Iterator[list[Document]]:
    """The first so many runs, the tasks in turn; the same at every call."""
    rng = Random(f"{SEED}/corpus")
    for number in range(runs):
        documents = LONG if number // BATCH % 4 == 0 else SHORT
        yield KINDS[number % len(KINDS)](rng, documents)


def run_text(documents: list[Document]) -> str:
    """A run as the model reads it."""
    return SEPARATOR.join(f"{document.prompt} {document.answer}" for document in documents)
