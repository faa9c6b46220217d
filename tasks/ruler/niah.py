"""Needles in a haystack: sentences that give values to keys, in a text that has nothing to do with them."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from .lengths import Recipe, Sample, rows_of
from .texts import NOISE, different, identifier, number, pair, prose

MAKERS: Mapping[str, Callable[[random.Random], str]] = {"words": pair, "numbers": number, "uuids": identifier}
HAYSTACKS: Mapping[str, str] = {"noise": "\n", "prose": " ", "needles": "\n"}
"""Kind → what stands between its parts."""
DEPTHS = [round(100 * step / 39) for step in range(40)]
"""Percent of a text's sentences before a needle."""
NEEDLE = "One of the special magic {values} for {key} is: {value}."
MANY = (
    "Some special magic {values} are hidden within the following text. Make sure to memorize it. I will quiz you about "
    "the {values} afterwards.\n{context}\nWhat are all the special magic {values} for {query} mentioned in the "
    "provided text?",
    "The special magic {values} for {query} mentioned in the provided text are",
)
ONE = (
    "A special magic {values} is hidden within the following text. Make sure to memorize it. I will quiz you about the "
    "{values} afterwards.\n{context}\nWhat is the special magic {values} for {query} mentioned in the provided text?",
    "The special magic {values} for {query} mentioned in the provided text is",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Puzzle:
    """What one of the eight tasks hides."""

    haystack: str
    keys: str
    values: str
    key_count: int = 1
    values_per_key: int = 1
    queries: int = 1

    @property
    def needles(self) -> int:
        return self.key_count * self.values_per_key


def rows(**given: Any) -> dict[str, Any]:
    """The data set of one task: a puzzle's fields, and metadata as in `lengths.rows_of`."""
    puzzle = Puzzle(**{known.name: given.pop(known.name) for known in fields(Puzzle) if known.name in given})
    recipe = Recipe(make=lambda units, rng: sample(puzzle, units, rng), reply_tokens=128, least=puzzle.needles)
    return rows_of(f"niah {puzzle}", lambda length, index: recipe, given)


def sample(puzzle: Puzzle, units: int, rng: random.Random) -> Sample:
    """`units` parts of haystack with the needles between them, and a question about some of their keys."""
    make_key, make_value = MAKERS[puzzle.keys], MAKERS[puzzle.values]
    keys = different(puzzle.key_count, lambda: make_key(rng))
    hidden = {key: [make_value(rng) for _ in range(puzzle.values_per_key)] for key in keys}
    needles = [(key, value) for key, values in hidden.items() for value in values]
    rng.shuffle(needles)
    asked = rng.sample(list(hidden), puzzle.queries)
    places = _places(puzzle, units, rng)
    parts = _haystack(puzzle, units, hidden, rng)
    for place, (key, value) in sorted(zip(places, needles, strict=True), reverse=True):
        parts.insert(place, NEEDLE.format(values=puzzle.values, key=key, value=value))
    depth_of = {needle: 100 * place / units for place, needle in zip(places, needles, strict=True)}
    answers = [(key, value) for key in asked for value in hidden[key]]
    text, prefix = MANY if len(answers) > 1 else ONE
    words = {"values": puzzle.values if len(answers) > 1 else puzzle.values[:-1], "query": _listed(asked)}
    return Sample(
        input=text.format(**words, context=HAYSTACKS[puzzle.haystack].join(parts)),
        outputs=[value for _, value in answers],
        gen_prefix=prefix.format(**words),
        more={"depths": [depth_of[answer] for answer in answers]},
    )


def _places(puzzle: Puzzle, units: int, rng: random.Random) -> list[int]:
    """How many parts of the haystack stand before each needle, in rising order."""
    if puzzle.haystack == "prose":
        return sorted(units * depth // 100 for depth in rng.sample(DEPTHS, puzzle.needles))
    return sorted(rng.sample(range(units), puzzle.needles))


def _haystack(puzzle: Puzzle, units: int, hidden: Mapping[str, Sequence[str]], rng: random.Random) -> list[str]:
    if puzzle.haystack == "prose":
        return prose(units)
    if puzzle.haystack == "noise":
        return [NOISE] * units
    return [_other_needle(puzzle, hidden, rng) for _ in range(units)]


def _other_needle(puzzle: Puzzle, hidden: Mapping[str, Sequence[str]], rng: random.Random) -> str:
    """One with a key that is not asked for."""
    key = MAKERS[puzzle.keys](rng)
    while key in hidden:
        key = MAKERS[puzzle.keys](rng)
    return NEEDLE.format(values=puzzle.values, key=key, value=MAKERS[puzzle.values](rng))


def _listed(keys: Sequence[str]) -> str:
    *first, last = keys
    return f"{', '.join(first)}, and {last}" if first else last
