"""Lists of words of which some come up more often than the rest."""

from __future__ import annotations

import math
import random
import string
from typing import Any

from .lengths import Recipe, Sample, rows_of
from .texts import different, invented

COMMON = 10
SHORT = 4096
"""Below this length words come up less often."""
COMMON_TEXT = (
    "Below is a numbered list of words. In these words, some appear more often than others. Memorize the ones that "
    "appear most often.\n{context}\nQuestion: What are the 10 most common words in the above list?"
)
COMMON_PREFIX = "Answer: The top 10 words that appear most often in the list are:"

CODE_LENGTH = 6
TOP = 3
DOTS = "..."
"""The most frequent word of a coded text, which does not count."""
STEEPNESS = 2.0
ALL_SHARES = math.pi**2 / 6
"""The sum of 1/rank² over all ranks."""
FREQUENT_TEXT = (
    "Read the following coded text and track the frequency of each coded word. Find the three most frequently appeared "
    "coded words. {context}\nQuestion: Do not provide any explanation. Please ignore the dots '....'. What are the "
    "three most frequently appeared words in the above coded text?"
)
FREQUENT_PREFIX = "Answer: According to the coded text above, the three most frequently appeared words are:"


def common_words(**metadata: Any) -> dict[str, Any]:
    """Ten words 30 times each, the others three times (in a short list 6 times and once)."""

    def recipe_for(length: int, index: int) -> Recipe:
        times = (30, 3) if length >= SHORT else (6, 1)
        return Recipe(make=lambda units, rng: _common(units, times, rng), reply_tokens=120, delimiter="\n\n")

    return rows_of("cwe", recipe_for, metadata)


def _common(units: int, times: tuple[int, int], rng: random.Random) -> Sample:
    words = different(COMMON + units, lambda: invented(rng))
    common, rest = words[:COMMON], words[COMMON:]
    listed = common * times[0] + rest * times[1]
    rng.shuffle(listed)
    context = " ".join(f"{number}. {word}" for number, word in enumerate(listed, 1))
    return Sample(input=COMMON_TEXT.format(context=context), outputs=common, gen_prefix=COMMON_PREFIX)


def frequent_words(**metadata: Any) -> dict[str, Any]:
    """Words whose frequency falls with the square of their rank."""

    def recipe_for(length: int, index: int) -> Recipe:
        vocabulary = max(length // 50, TOP + 2)
        return Recipe(make=lambda units, rng: _frequent(units, vocabulary, rng), reply_tokens=50, least=100)

    return rows_of("fwe", recipe_for, metadata)


def _frequent(units: int, vocabulary: int, rng: random.Random) -> Sample:
    codes = different(vocabulary - 1, lambda: "".join(rng.choices(string.ascii_lowercase, k=CODE_LENGTH)))
    words = [DOTS, *codes]
    shares = [rank**-STEEPNESS / ALL_SHARES for rank in range(1, vocabulary + 1)]
    text = [word for word, share in zip(words, shares, strict=True) for _ in range(int(units * share))]
    rng.shuffle(text)
    context = " ".join(text)
    return Sample(input=FREQUENT_TEXT.format(context=context), outputs=words[1 : TOP + 1], gen_prefix=FREQUENT_PREFIX)
