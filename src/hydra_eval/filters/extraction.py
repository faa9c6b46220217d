"""Filters that find the answer within a reply."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hydra_eval.errors import UserError
from hydra_eval.filters.base import Filter
from hydra_eval.filters.replies import each_reply
from hydra_eval.patterns import compile_pattern, compile_patterns

FINAL_NUMBER = r"#### (-?[0-9.,]+)"
"""Default pattern, as in lm-eval: the number after the four hashes of grade-school maths."""
NOT_FOUND = "[invalid]"
NO_TAGS = ["invalid"]
"""What `regex_pos` leaves of a reply without tags."""

TAGGED_TOKEN = re.compile(r"\('[^']*', '([^']*)'\)")
"""One `('token', 'TAG')` of a printed list; the group is the tag."""


def regex(*, regex_pattern: str = FINAL_NUMBER, group_select: int = 0, fallback: str = NOT_FOUND) -> Filter:
    """Keep the `group_select`-th match (-1: the last), stripped; `fallback` where there is no such match.

    Of several groups the first that is not empty counts, and a match whose groups are all empty does not count: `()`
    as the last alternative must not win over an answer found before it. A pattern with one group or none keeps its
    empty matches, as in lm-eval.
    """
    pattern = compile_pattern(regex_pattern)
    check_index(group_select)

    def extract(reply: Any) -> str:
        found = matches(pattern, reply)
        if pattern.groups > 1:
            found = [match for match in found if match]
        selected = select(found, group_select)
        return fallback if selected is None else selected.strip()

    return each_reply(extract)


def regex_pos(*, fallback: Any = None) -> Filter:
    """Keep the tags of a printed list of `('token', 'TAG')` pairs, or of the pairs themselves; else `['invalid']`."""

    def extract(reply: Any) -> Any:
        tags = TAGGED_TOKEN.findall(reply) if isinstance(reply, str) else [tag for _, tag in reply]
        return tags or (list(NO_TAGS) if fallback is None else fallback)

    return each_reply(extract)


@dataclass(frozen=True, slots=True, kw_only=True)
class MultiChoiceRegex:
    """Keep the letter of the choice that the reply names, as `(A)`; documents need a column `choices`.

    Three attempts: `regex_pattern`; the text of a choice (the longest first), after the `ignore_*` options on both
    sides; a letter after a colon. The first that finds something ends it.
    """

    regex_pattern: str = FINAL_NUMBER
    group_select: int = 0
    fallback: str = NOT_FOUND
    ignore_case: bool = False
    ignore_punctuation: bool = False
    regexes_to_ignore: Sequence[str] | str | None = None

    def __post_init__(self) -> None:
        check_index(self.group_select)
        compile_pattern(self.regex_pattern)
        compile_patterns(self.regexes_to_ignore)

    def __call__(self, resps: Sequence[Any], docs: Sequence[Mapping[str, Any]]) -> list[Any]:
        return [
            each_reply(self._extractor(choice_texts(doc)))([entry], [doc])[0]
            for entry, doc in zip(resps, docs, strict=True)
        ]

    def _extractor(self, choices: Sequence[str]) -> Callable[[Any], str]:
        letters = [chr(ord("A") + number) for number in range(len(choices))]
        texts = [self._plain(choice.strip()) for choice in choices]
        by_text = {text: f"({letter})" for text, letter in zip(texts, letters, strict=True)}
        any_text = re.compile("|".join(sorted(map(re.escape, texts), key=len, reverse=True)))
        any_letter = re.compile(rf":\s*({'|'.join(map(re.escape, letters))})")

        def extract(reply: Any) -> str:
            if answer := self._find(re.compile(self.regex_pattern), reply):
                return answer
            if text := self._find(any_text, self._plain(reply)):
                return by_text.get(text, text)
            letter = self._find(any_letter, reply)
            return f"({letter})" if letter else self.fallback

        return extract

    def _find(self, pattern: re.Pattern[str], reply: Any) -> str:
        return (select(matches(pattern, reply), self.group_select) or "").strip()

    def _plain(self, text: Any) -> str:
        plain = text if isinstance(text, str) else ""
        for pattern in compile_patterns(self.regexes_to_ignore):
            plain = pattern.sub("", plain)
        if self.ignore_case:
            plain = plain.lower()
        if self.ignore_punctuation:
            plain = "".join(mark for mark in plain if not unicodedata.category(mark).startswith("P"))
        return plain


def matches(pattern: re.Pattern[str], reply: Any) -> list[str]:
    """Every match in order: its first group that is not empty, else ""; nothing in a reply that is no text."""
    found = pattern.findall(reply) if isinstance(reply, str) else []
    return [match if isinstance(match, str) else next(filter(None, match), "") for match in found]


def select(found: Sequence[str], index: int) -> str | None:
    """`found[index]`, or None where there are too few."""
    return found[index] if -len(found) <= index < len(found) else None


def check_index(group_select: Any) -> None:
    if not isinstance(group_select, int) or isinstance(group_select, bool):
        raise UserError(
            f"group_select={group_select!r} must be a whole number: 0 is the first match, -1 the last, not a group"
        )


def choice_texts(doc: Mapping[str, Any]) -> list[str]:
    """The document's column `choices`, as texts."""
    if "choices" not in doc:
        raise UserError(
            f"filter 'multi_choice_regex' needs a column 'choices'; the document has only: {', '.join(map(str, doc))}."
        )
    texts = list(doc["choices"])
    if not all(isinstance(text, str) for text in texts):
        raise UserError(
            f"filter 'multi_choice_regex': column 'choices' must hold a text per choice, not {doc['choices']!r}."
        )
    return texts
