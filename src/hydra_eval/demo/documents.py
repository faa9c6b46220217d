"""One document of each demo task: its row as the task file reads it, and its text as the task file renders it.

Each document is built around two numbers or a set of four animals; those of evaluated documents are held out of the
training text, see `hydra_eval.demo.splits`.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TypeAlias

from hydra_eval.demo import world

Row: TypeAlias = dict[str, str | int | list[str]]
NumberPair: TypeAlias = tuple[int, int]
Animals: TypeAlias = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A prompt and the answer that follows it after one blank."""

    prompt: str
    answer: str
    row: Row


def sums_document(rng: Random, pair: NumberPair) -> Document:
    """A story in which the two numbers are added, or the smaller one is taken away."""
    low, high = pair
    adds = rng.random() < 0.5
    a, b = (low, high) if adds and rng.random() < 0.5 else (high, low)
    good = rng.choice(world.GOODS)
    story = rng.choice(world.ADDING if adds else world.TAKING).format(name=rng.choice(world.NAMES), good=good, a=a, b=b)
    result = a + b if adds else a - b
    working = f"{a} {'+' if adds else '-'} {b} = {result}."
    return Document(
        prompt=f"{story} How many now?\nAnswer:",
        answer=f"{working} The answer is {result}.",
        row={"story": story, "good": good, "working": working, "answer": str(result)},
    )


def scales_document(animals: Animals, *, heaviest: bool) -> Document:
    """Which of four animals is the heaviest, or the lightest; the choices stand in the order of the question."""
    place = world.BY_WEIGHT.index
    answer = max(animals, key=place) if heaviest else min(animals, key=place)
    first, second, third, fourth = (f"the {animal}" for animal in animals)
    question = f"Which is the {'heaviest' if heaviest else 'lightest'}: {first}, {second}, {third} or {fourth}?"
    return Document(
        prompt=f"{question}\nAnswer:",
        answer=f"the {answer}",
        row={"question": question, "choices": [first, second, third, fourth], "label": animals.index(answer)},
    )


def ledger_document(rng: Random, pair: NumberPair, *, clerk: tuple[str, str]) -> Document:
    """The catch of a day, and how a clerk with this way to begin and to end an entry writes down the sum."""
    a, b = rng.sample(pair, 2)
    first, second = rng.sample(world.FISH, 2)
    catch = f"{rng.choice(world.NAMES)} lands {a} {first} and {b} {second}."
    entry = f"{clerk[0]} {a + b}{clerk[1]}"
    return Document(prompt=f"{catch}\nLedger:", answer=entry, row={"catch": catch, "sum": a + b, "entry": entry})
