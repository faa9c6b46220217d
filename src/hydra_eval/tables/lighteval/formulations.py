"""`lighteval.tasks.templates.utils.formulation`: whether the choices are shown, and what is scored, letter or text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any, TypeAlias

from hydra_eval.tables.lighteval.dynamic import LogLikelihoodAccMetric
from hydra_eval.tables.lighteval.literals import TranslationLiterals


@dataclass
class MCFFormulation:
    """The choices are shown with letters, and the letter is scored."""

    choice_prefix: str = "Letters"
    """Letters, NativeLetters or Numbers."""
    name: str = "MCF"


@dataclass
class HybridFormulation:
    """The choices are shown with letters, and the choice's text is scored."""

    choice_prefix: str = "Letters"
    name: str = "Hybrid"


@dataclass
class CFFormulation:
    """The choices are not shown, and the choice's text is scored."""

    name: str = "CF"


Formulation: TypeAlias = MCFFormulation | HybridFormulation | CFFormulation


def get_prefix(choice_prefix: str, literals: TranslationLiterals) -> Sequence[str]:
    """What stands for the choices, in order."""
    if choice_prefix == "Numbers":
        return [str(number) for number in range(1, 27)]
    return literals.indices if choice_prefix == "NativeLetters" else ascii_uppercase


def build_choices(
    choices: Sequence[str], formulation: Formulation, literals: TranslationLiterals, use_sentence_space: bool = True
) -> str | None:
    """The choices as lines; None where the formulation does not show them."""
    if isinstance(formulation, CFFormulation):
        return None
    prefixes = get_prefix(formulation.choice_prefix, literals)
    between, own = literals.sentence_space, _space(literals, use_sentence_space)
    # What is scored (letter or text) has the same blank before it here as in the answers.
    before, after = (own, between) if isinstance(formulation, MCFFormulation) else (between, own)
    lines = [f"{before}{prefixes[place]}{literals.full_stop}{after}{choice}" for place, choice in enumerate(choices)]
    return "\n".join(lines)


def build_answers(
    answers: Sequence[str], formulation: Formulation, literals: TranslationLiterals, use_sentence_space: bool = True
) -> list[str]:
    """What is scored, each with a blank before it."""
    if isinstance(formulation, MCFFormulation):
        answers = get_prefix(formulation.choice_prefix, literals)[: len(answers)]
    return [f"{_space(literals, use_sentence_space)}{answer}" for answer in answers]


def get_metrics_for_formulation(formulation: Formulation, metrics: list[Any]) -> list[Any]:
    """Letters are scored by plain accuracy: their lengths are equal."""
    if isinstance(formulation, MCFFormulation) and formulation.choice_prefix == "Letters":
        return [LogLikelihoodAccMetric()]
    return metrics


def normalize_subset(subset: str) -> str:
    """A subset's name as part of a task's."""
    return subset.replace(" ", "_").replace("(", "").replace(")", "").lower()


def _space(literals: TranslationLiterals, of_sentence: bool) -> str:
    return literals.sentence_space if of_sentence else literals.word_space
