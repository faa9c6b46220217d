"""Hooks for functions that go on from their head.

{"prompt": "def double(n):\\n    \\"\\"\\"Twice n.\\"\\"\\"\\n", "entry_point": "double",
 "test": "def check(candidate):\\n    assert candidate(2) == 4\\n"}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hydra_eval import code_execution


def whole_programs(resps: Sequence[Sequence[str]], docs: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Every reply behind its prompt."""
    return [[doc["prompt"] + reply for reply in replies] for replies, doc in zip(resps, docs, strict=True)]


def pass_at_k(references: Sequence[str], predictions: Sequence[Sequence[str]], k: Sequence[int]) -> dict[str, float]:
    """Chance that one of k replies passes, for each k of which there are enough replies."""
    (tests,), (programs,) = references, predictions
    passed = sum(code_execution.passes([f"{program}\n{tests}" for program in programs]))
    return {
        f"pass@{some}": code_execution.pass_at_k(len(programs), passed, some) for some in k if some <= len(programs)
    }
