"""The prompts were made with lighteval's own templates (0.13)."""

from __future__ import annotations

import pytest

from hydra_eval.tables.lighteval.formulations import (
    CFFormulation,
    Formulation,
    HybridFormulation,
    MCFFormulation,
    get_metrics_for_formulation,
)
from hydra_eval.tables.lighteval.language import Language
from hydra_eval.tables.lighteval.literals import TRANSLATION_LITERALS
from hydra_eval.tables.lighteval.templates import (
    get_continuation_prompt_function,
    get_mcq_prompt_function,
    get_qa_prompt_function,
)

ROW = {"q": "what is red? ", "c": ["a rose", "the sea."], "g": 0, "ctx": "think of colours."}
MCQ = {"question": "q", "choices": "c", "gold_idx": "g"}
SHOWN = "Question: What is red?\n A. A rose\n B. The sea.\nAnswer:"


@pytest.mark.parametrize(
    ("formulation", "query", "choices"),
    [
        (MCFFormulation(), SHOWN, [" A", " B"]),
        (MCFFormulation("Numbers"), SHOWN.replace("A. ", "1. ").replace("B. ", "2. "), [" 1", " 2"]),
        (HybridFormulation(), SHOWN, [" A rose", " The sea."]),
        (CFFormulation(), "Question: What is red?\nAnswer:", [" A rose", " The sea."]),
    ],
    ids=["MCF", "numbers", "Hybrid", "CF"],
)
def test_questions_with_choices(formulation: Formulation, query: str, choices: list[str]) -> None:
    doc = get_mcq_prompt_function(Language.ENGLISH, MCQ, formulation)(ROW, "t")
    assert doc is not None
    assert (doc.query, doc.choices, doc.gold_index) == (query, choices, [0])
    assert doc.unconditioned_query == "Answer:"


def test_context_and_instruction_stand_before_the_question() -> None:
    names = {**MCQ, "context": "ctx", "instruction": "told"}
    doc = get_mcq_prompt_function(Language.ENGLISH, names, CFFormulation())({**ROW, "told": "Pick."}, "t")
    assert doc is not None
    assert doc.query == "Pick.\nThink of colours.\nQuestion: What is red?\nAnswer:"
    assert doc.instruction == "Pick."


def test_of_a_free_question_every_answer_is_right() -> None:
    doc = get_qa_prompt_function(Language.ENGLISH, {"question": "q", "choices": "c"})(ROW | {"c": ["x", "y", "x"]}, "t")
    assert doc is not None
    assert (doc.choices, doc.gold_index) == ([" X", " Y"], [0, 1])


@pytest.mark.parametrize(
    ("context", "formulation", "query", "choices"),
    [
        ("a man is", CFFormulation(), "A man is", [" a rose", " the sea."]),
        ("a man is.", CFFormulation(), "A man is.", [" A rose", " The sea."]),
        ("a man is", MCFFormulation(), "A man is\n A. a rose\n B. the sea.\nAnswer:", [" A", " B"]),
    ],
    ids=["goes on", "new sentence", "letters"],
)
def test_continuations(context: str, formulation: Formulation, query: str, choices: list[str]) -> None:
    adapter = {"context": "ctx", "continuations": "c", "gold_idx": "g"}
    doc = get_continuation_prompt_function(Language.ENGLISH, adapter, formulation)(ROW | {"ctx": context}, "t")
    assert doc is not None
    assert (doc.query, doc.choices) == (query, choices)


def test_a_row_can_be_left_out() -> None:
    assert get_mcq_prompt_function(Language.ENGLISH, lambda row: None)(ROW, "t") is None


def test_letters_are_scored_by_plain_accuracy() -> None:
    assert [metric.metric_name for metric in get_metrics_for_formulation(MCFFormulation(), [1, 2])] == ["acc"]
    assert get_metrics_for_formulation(CFFormulation(), [1, 2]) == [1, 2]


def test_a_language_without_words() -> None:
    with pytest.raises(KeyError, match=r"TRANSLATION_LITERALS\[Language.FRENCH\]"):
        TRANSLATION_LITERALS[Language.FRENCH]
