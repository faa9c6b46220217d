"""`lighteval.tasks.templates`: prompt functions for questions with choices, free questions and continuations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from hydra_eval.tables.lighteval.docs import Doc, as_list
from hydra_eval.tables.lighteval.formulations import (
    CFFormulation,
    Formulation,
    MCFFormulation,
    build_answers,
    build_choices,
)
from hydra_eval.tables.lighteval.language import Language
from hydra_eval.tables.lighteval.literals import TRANSLATION_LITERALS, TranslationLiterals

Adapter: TypeAlias = Mapping[str, str] | Callable[[dict[str, Any]], Mapping[str, Any] | None]
"""Which column is what, or a function from the row to the template's inputs; None leaves the row out."""
PromptFunction: TypeAlias = Callable[[dict[str, Any], str], Doc | None]


def get_mcq_prompt_function(
    language: Language, adapter: Adapter, formulation: Formulation | None = None
) -> PromptFunction:
    """`question`, `choices`, `gold_idx`, and optionally `context` and `instruction`."""
    form = formulation or MCFFormulation()

    def prompt(line: dict[str, Any], task_name: str) -> Doc | None:
        given, words = adapted(adapter, line), TRANSLATION_LITERALS[language]
        if given is None:
            return None
        instruction, context = given.get("instruction"), given.get("context")
        texts = [sentence(str(choice), words) for choice in given["choices"]]
        lead = f"{capitalize(words.answer)}{words.colon}"
        question = f"{capitalize(words.question_word)}{words.colon}{words.sentence_space}"
        parts = (f"{instruction}\n" if instruction else "", f"{sentence(context, words)}\n" if context else "")
        options = build_choices(texts, form, words)
        return Doc(
            task_name=task_name,
            query=f"{''.join(parts)}{question}{sentence(given['question'], words)}\n{_lines(options)}{lead}",
            choices=build_answers(texts, form, words),
            gold_index=as_list(given["gold_idx"]),
            instruction=instruction,
            unconditioned_query=lead,
        )

    return prompt


def get_qa_prompt_function(language: Language, adapter: Adapter) -> PromptFunction:
    """`question`, `choices` (all right), and optionally `context` and `instruction`."""

    def as_choices(line: dict[str, Any]) -> Mapping[str, Any] | None:
        given = adapted(adapter, line)
        if given is None:
            return None
        choices = list(dict.fromkeys(given["choices"]))
        return {**given, "choices": choices, "gold_idx": list(range(len(choices)))}

    return get_mcq_prompt_function(language, as_choices, CFFormulation())


def get_continuation_prompt_function(
    language: Language, adapter: Adapter, formulation: Formulation | None = None, fix_formatting: bool = True
) -> PromptFunction:
    """`context`, `continuations`, `gold_idx`, and optionally `instruction`."""
    template = _Continuation(formulation or MCFFormulation(), fix_formatting)

    def prompt(line: dict[str, Any], task_name: str) -> Doc | None:
        given = adapted(adapter, line)
        return None if given is None else template.doc(given, TRANSLATION_LITERALS[language], task_name)

    return prompt


@dataclass(frozen=True)
class _Continuation:
    formulation: Formulation
    fixes: bool

    def doc(self, given: Mapping[str, Any], words: TranslationLiterals, task_name: str) -> Doc:
        instruction = f"{given['instruction']}\n" if given.get("instruction") else ""
        context = sentence(given["context"], words) if self.fixes else given["context"]
        texts = [self._after(context, text, words) for text in given["continuations"]]
        bare = isinstance(self.formulation, CFFormulation)
        lead = "" if bare else f"{capitalize(words.answer)}{words.colon}"
        options = _lines(build_choices(texts, self.formulation, words))
        ends = ends_sentence(context, words) if bare else True
        return Doc(
            task_name=task_name,
            query=f"{instruction}{context}" if bare else f"{instruction}{context}\n{options}{lead}",
            choices=build_answers(texts, self.formulation, words, ends),
            gold_index=as_list(given["gold_idx"]),
            instruction=instruction,
            unconditioned_query=lead,
        )

    def _after(self, context: str, text: str, words: TranslationLiterals) -> str:
        """A capital after the end of a sentence, else none."""
        if not self.fixes:
            return text
        starts = not context or context.endswith("\n") or ends_sentence(context, words)
        text = with_own_signs(text, words)
        return capitalize(text) if starts else text[:1].lower() + text[1:]


def adapted(adapter: Adapter, line: dict[str, Any]) -> Mapping[str, Any] | None:
    return {key: line[column] for key, column in adapter.items()} if isinstance(adapter, Mapping) else adapter(line)


def sentence(text: str, words: TranslationLiterals) -> str:
    """A capital at the start, the language's own sign at the end."""
    return capitalize(with_own_signs(text, words))


def capitalize(text: str) -> str:
    return text[:1].upper() + text[1:]


def with_own_signs(text: str, words: TranslationLiterals) -> str:
    """Without blanks at the end; a last `?`, `.`, `,` or `:` as the language writes it."""
    text = text.rstrip()
    signs = {"?": words.question_mark, ".": words.full_stop, ",": words.comma, ":": words.colon}
    return text[:-1] + signs.get(text[-1:], text[-1:])


def ends_sentence(text: str, words: TranslationLiterals) -> bool:
    signs = (words.question_mark, words.full_stop, words.exclamation_mark, words.colon, words.semicolon)
    return text.rstrip().endswith(signs)


def _lines(options: str | None) -> str:
    return f"{options}\n" if options else ""
