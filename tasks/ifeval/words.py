"""Sentences and words in capitals, counted as the tokenizers of NLTK count them, without NLTK."""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec
from typing import Any

ABBREVIATIONS = "mr|mrs|ms|dr|prof|st|jr|sr|vs|etc|e\\.g|i\\.e|cf|no|vol|inc|ltd|co|[a-z]|[a-z]\\.[a-z]"
SENTENCE_END = re.compile(r"""[.!?]['")\]”’]*(?=\s)""")
NO_END = re.compile(rf"(?:^|[\s(\"'])(?:{ABBREVIATIONS})\.$", re.IGNORECASE)

MARKS = re.compile(r"""[;@#$%&?!*"`\[\](){}<>«»“”„‘’]|--|\.{2,}|''|[:,](?!\d)""")
"""What parts words even without a blank."""
ENDINGS = re.compile(r"(?<=[^'\s])('[SMDsmd]?|'LL|'ll|'RE|'re|'VE|'ve|N'T|n't)(?=\.?(?:\s|$))")
DOUBLE_WORDS = re.compile(r"\b(?:(CAN)(NOT)|(D)('YE)|(GIM)(ME)|(GON)(NA)|(GOT)(TA)|(LEM)(ME)|(MORE)('N)|(WAN)(NA))\b")


def sentences(text: str) -> int:
    """With NLTK's Punkt where it and its data are there, which is what lm-eval counts with; else by rule."""
    punkt = _punkt()
    return len(punkt.tokenize(text)) if punkt is not None else _sentences_by_rule(text)


@cache
def _punkt() -> Any | None:
    if find_spec("nltk") is None:
        return None
    from nltk.tokenize import PunktTokenizer

    try:
        return PunktTokenizer("english")
    except LookupError:
        return None


def _sentences_by_rule(text: str) -> int:
    """An end is `.`, `!` or `?` before a blank; not after an abbreviation, nor before a small letter."""
    ends = 0
    for found in SENTENCE_END.finditer(text):
        rest = text[found.end() :].lstrip()
        goes_on = not rest or rest[0].islower()
        is_abbreviation = found.group()[0] == "." and NO_END.search(text[: found.start() + 1]) is not None
        ends += not goes_on and not is_abbreviation
    return ends + 1


def capital_words(text: str) -> int:
    """Words without small letters; contractions count as two, as `DO` and `N'T`."""
    parted = MARKS.sub(" ", text)
    parted = ENDINGS.sub(r" \1", parted)
    parted = DOUBLE_WORDS.sub(lambda found: " ".join(filter(None, found.groups())), parted)
    return sum(word.isupper() for word in parted.split())
