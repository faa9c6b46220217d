"""Filters that find an answer in a reply to a question of BIG-Bench Hard.

{"input": "Which day comes after Monday?\\nOptions:\\n(A) Tuesday\\n(B) Sunday", "target": "(A)"}
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hydra_eval.filters.extraction import NOT_FOUND, MultiChoiceRegex, select

Rows = Sequence[Mapping[str, Any]]

LETTER = r"(\([A-Z]\))"
CHOICE = re.compile(r"\([A-Z]\)([^\n^(]*)")
"""The text behind a choice's letter."""
DIGITS = re.compile(r"[-0-9]+")

DIGIT_WORDS = "zero one two three four five six seven eight nine ten eleven twelve"
TEEN_WORDS = "thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
TEN_WORDS = "twenty thirty forty fifty sixty seventy eighty ninety"
SMALL = {word: number for number, word in enumerate(f"{DIGIT_WORDS} {TEEN_WORDS}".split())}
SMALL |= {word: number for number, word in zip(range(20, 100, 10), TEN_WORDS.split(), strict=True)}
LARGE = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
WORD = rf"(?:{'|'.join(sorted([*SMALL, 'hundred', *LARGE], reverse=True))})"
NUMBER_WORDS = re.compile(rf"\b{WORD}(?:(?:[ \t,&]|\band\b)+{WORD}\b)*\b")


class Letter:
    """The letter of the choice named, as `(A)`; else of the choice whose text is there; else after a colon."""

    def __init__(self, group_select: int) -> None:
        self.find = MultiChoiceRegex(
            regex_pattern=LETTER, group_select=group_select, ignore_case=True, ignore_punctuation=True
        )

    def apply(self, resps: Sequence[Any], docs: Rows) -> list[Any]:
        return self.find(resps, [{"choices": CHOICE.findall(doc["input"])} for doc in docs])


class Number:
    """A number in digits; else one in words, as digits."""

    def __init__(self, group_select: int) -> None:
        self.group_select = group_select

    def apply(self, resps: Sequence[list[str]], docs: Rows) -> list[list[str]]:
        return _each(self.find, resps)

    def find(self, reply: str) -> str:
        if digits := select(DIGITS.findall(reply), self.group_select):
            return digits
        words = select(NUMBER_WORDS.findall(reply.lower()), self.group_select)
        return NOT_FOUND if words is None else str(number_in_words(words))


class Verdict:
    """`yes` or `no`, told from phrases in any case."""

    def __init__(self, yes: Sequence[str], no: Sequence[str], group_select: int) -> None:
        self.phrases = re.compile(rf"\b(?:({'|'.join(no)})|({'|'.join(yes)}))\b")
        self.group_select = group_select

    def apply(self, resps: Sequence[list[str]], docs: Rows) -> list[list[str]]:
        return _each(self.find, resps)

    def find(self, reply: str) -> str:
        verdicts = ["no" if no else "yes" for no, _ in self.phrases.findall(reply.lower())]
        return select(verdicts, self.group_select) or NOT_FOUND


class SortedWords:
    """The question's own words in the order of the reply; of a word that comes up again, the last time counts."""

    def __init__(self, group_select: int) -> None:
        """All of this table's filters are told which answer to take; here all words make one."""

    def apply(self, resps: Sequence[list[str]], docs: Rows) -> list[list[str]]:
        return [_each(_order_of(doc["input"]), [replies])[0] for replies, doc in zip(resps, docs, strict=True)]


def number_in_words(text: str) -> int:
    """`two hundred and five` is 205."""
    total = part = 0
    for word in re.findall(WORD, text):
        if word in LARGE:
            total, part = total + (part or 1) * LARGE[word], 0
        elif word == "hundred":
            part = (part or 1) * 100
        else:
            part += SMALL[word]
    return total + part


def _order_of(question: str) -> Callable[[str], str]:
    words = question.split("List:")[1].split()
    any_word = re.compile("|".join(rf"\b{re.escape(word)}\b" for word in words))

    def order(reply: str) -> str:
        last_first = dict.fromkeys(reversed(any_word.findall(reply)))
        return " ".join(reversed(last_first))

    return order


def _each(find: Callable[[str], str], resps: Sequence[list[str]]) -> list[list[str]]:
    return [[find(reply) for reply in replies] for replies in resps]
