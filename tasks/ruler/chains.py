"""A chain of variables, each set to the one before, in a text that has nothing to do with them."""

from __future__ import annotations

import random
import string
from typing import Any

from .lengths import Recipe, Sample, rows_of
from .texts import NOISE, different

HOPS = 4
"""Variables after the first one."""
EXAMPLE_UNITS = 5
TEXT = (
    "Memorize and track the chain(s) of variable assignment hidden in the following text.\n\n{context}\n"
    "Question: Find all variables that are assigned the value {value} in the text above."
)
# The slip in "assgined" is the benchmark's; models have been compared with it.
PREFIX = (
    "Answer: According to the chain(s) of variable assignment in the text above, {count} variables are assgined the "
    "value {value}, they are:"
)


def rows(**metadata: Any) -> dict[str, Any]:
    recipe = Recipe(make=sample, reply_tokens=30, least=HOPS + 1)
    return rows_of("vt", lambda length, index: recipe, metadata)


def sample(units: int, rng: random.Random) -> Sample:
    """A short worked example with names of its own, and the chain to follow."""
    example, solved, answer = _puzzle(EXAMPLE_UNITS, 3, rng)
    question, names, prefix = _puzzle(units, 5, rng)
    return Sample(input=f"{example} {answer} {' '.join(solved)}\n\n{question}", outputs=names, gen_prefix=prefix)


def _puzzle(units: int, letters: int, rng: random.Random) -> tuple[str, list[str], str]:
    """(text and question, names in the chain, head of the answer)."""
    names = different(HOPS + 1, lambda: "".join(rng.choices(string.ascii_uppercase, k=letters)))
    value = str(rng.randrange(10_000, 100_000))
    assigned = [
        f"VAR {name} = {given}" for name, given in zip(names, [value, *(f"VAR {n}" for n in names)], strict=False)
    ]
    lines = [NOISE] * units
    for place, line in sorted(zip(sorted(rng.sample(range(units), len(names))), assigned, strict=True), reverse=True):
        lines.insert(place, line)
    filled = {"value": value, "count": len(names)}
    return TEXT.format(context="\n".join(lines), **filled), names, PREFIX.format(**filled)
