"""Write data/*.jsonl anew: `python generate.py`. The same seed gives the same bytes."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SEED = 20
CONSONANTS, VOWELS = "bdfgklmnprstvz", "aeiou"
COMMON, RARE_TIMES = 5, 2
TRAIN = {150: 8}
TEST = {150: 20, 300: 20, 600: 20, 1200: 20}
"""Words in the list → rows. A third of a list is common words, two thirds are words said twice."""


def invent_word(rng: random.Random) -> str:
    """Two or three open syllables."""
    return "".join(rng.choice(CONSONANTS) + rng.choice(VOWELS) for _ in range(rng.choice((2, 3, 3))))


def invent_words(count: int, rng: random.Random) -> list[str]:
    """`count` different words."""
    words: dict[str, None] = {}
    while len(words) < count:
        words[invent_word(rng)] = None
    return list(words)


def make_rows(lengths: dict[int, int], rng: random.Random) -> Iterator[dict[str, Any]]:
    for length, rows in lengths.items():
        for _ in range(rows):
            words = invent_words(COMMON + length * 2 // 3 // RARE_TIMES, rng)
            yield {
                "length": length,
                "common": sorted(words[:COMMON]),
                "common_times": length // 3 // COMMON,
                "rare": words[COMMON:],
                "rare_times": RARE_TIMES,
                "seed": rng.randrange(2**31),
            }


def main(folder: Path) -> None:
    rng = random.Random(SEED)
    for split, lengths in {"train": TRAIN, "test": TEST}.items():
        lines = [json.dumps(row, separators=(",", ":")) + "\n" for row in make_rows(lengths, rng)]
        (folder / f"{split}.jsonl").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main(Path(__file__).parent / "data")
