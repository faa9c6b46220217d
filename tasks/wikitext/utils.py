"""Articles as people write them, from the tokens of the data set.

{"page": " = Tern = \n The tern ( Sterna ) weighs 1 @.@ 2 kg , or so it 's said . \n"}
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import reduce

PLAIN = (
    ("s '", "s'"),
    *((f" @{sign}@ ", sign) for sign in "-,."),
    *((f" {sign} ", f"{sign} ") for sign in ":;.!?,"),
)
"""What to replace by what, in this order."""
PAIRS = ("()", "[]", "{}", '""', "''")
"""Opening and closing signs: the blanks beside them, inside, go."""
AFTER_PAIRS = (
    *(((" ".join("=" * depth)), "=" * depth) for depth in (4, 3, 2)),
    (" ° ", "°"),
    (" \n", "\n"),
    ("\n ", "\n"),
    (" N ", " 1 "),
    (" 's", "'s"),
)


def as_written(doc: Mapping[str, str]) -> str:
    text = _replaced(doc["page"], PLAIN)
    for opening, closing in PAIRS:
        inside = rf"\s*([^{re.escape(closing)}]*?)\s*"
        text = re.sub(re.escape(opening) + inside + re.escape(closing), rf"{opening}\1{closing}", text)
    return _replaced(text, AFTER_PAIRS)


def per_word_and_byte(doc: Mapping[str, str], results: Sequence[float]) -> dict[str, tuple[float, int]]:
    """(log-likelihood, its weight). Words and bytes are counted in the tokens' text, before any blank went."""
    page, (logprob,) = doc["page"], results
    words, size = len(re.split(r"\s+", page)), len(page.encode())
    return {
        "word_perplexity": (logprob, words),
        "byte_perplexity": (logprob, size),
        "bits_per_byte": (logprob, size),
    }


def _replaced(text: str, pairs: Sequence[tuple[str, str]]) -> str:
    return reduce(lambda written, pair: written.replace(*pair), pairs, text)
