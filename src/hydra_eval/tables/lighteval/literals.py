"""`lighteval.tasks.templates.utils.translation_literals`: the words and signs that templates put around a row's texts.

English is here; a task file adds its language with `TRANSLATION_LITERALS[Language.X] = TranslationLiterals(…)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_uppercase

from hydra_eval.tables.lighteval.language import Language


@dataclass
class TranslationLiterals:
    """Words and signs of one language."""

    language: Language
    question_word: str = ""
    answer: str = ""
    confirmation_word: str = ""
    yes: str = ""
    no: str = ""
    also: str = ""
    cause_word: str = ""
    effect_word: str = ""
    or_word: str = ""
    and_word: str = ""
    true: str = ""
    false: str = ""
    neither: str = ""
    full_stop: str = "."
    comma: str = ","
    question_mark: str = "?"
    exclamation_mark: str = "!"
    word_space: str = " "
    sentence_space: str = " "
    colon: str = ":"
    semicolon: str = ";"
    indices: Sequence[str] = ascii_uppercase


class _ByLanguage(dict[Language, TranslationLiterals]):
    def __missing__(self, language: Language) -> TranslationLiterals:
        raise KeyError(
            f"no words for {language.name.title()}: set TRANSLATION_LITERALS[Language.{language.name}] in the task "
            "file, or install lighteval"
        )


TRANSLATION_LITERALS = _ByLanguage(
    {
        Language.ENGLISH: TranslationLiterals(
            language=Language.ENGLISH,
            question_word="question",
            answer="answer",
            confirmation_word="right",
            yes="yes",
            no="no",
            also="also",
            cause_word="because",
            effect_word="therefore",
            or_word="or",
            and_word="and",
            true="true",
            false="false",
            neither="neither",
        )
    }
)
