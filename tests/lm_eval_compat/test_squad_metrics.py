from __future__ import annotations

import pytest

from hydra_eval.lm_eval_compat.removed.squad_metrics import compute_exact, compute_f1, normalize_answer


@pytest.mark.parametrize(
    ("text", "normal"),
    [("The  Cat!", "cat"), ("an apple, a day", "apple day"), ("anthem", "anthem"), ("", ""), ("U.S.", "us")],
)
def test_what_counts_of_an_answer(text: str, normal: str) -> None:
    assert normalize_answer(text) == normal


@pytest.mark.parametrize(
    ("gold", "answer", "exact", "f1"),
    [
        ("a red cat", "Red cat.", 1, 1.0),
        ("red cat", "red dog", 0, 0.5),
        ("red", "red red red", 0, 0.5),
        ("red", "blue", 0, 0.0),
        ("", "the", 1, 1),
        ("", "red", 0, 0),
    ],
)
def test_exact_match_and_f1(gold: str, answer: str, exact: int, f1: float) -> None:
    assert (compute_exact(gold, answer), compute_f1(gold, answer)) == (exact, f1)
