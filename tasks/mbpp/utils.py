"""Hooks for short programs with tests.

{"task_id": 2, "text": "Write a function that doubles a number.", "code": "def double(n):\\r\\n  return 2 * n",
 "test_list": ["assert double(2) == 4", "assert double(0) == 0", "assert double(-1) == -2"]}
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hydra_eval.code_execution import passes

USUAL_EXAMPLES = (2, 3, 4)
"""Numbers of the three programs that are shown by custom (Austin et al. 2021), in the split `prompt`."""


def usual_examples(docs: Any) -> Any:
    """Those three of a `datasets.Dataset`; all of it where it has none of them."""
    chosen = docs.filter(lambda doc: doc["task_id"] in USUAL_EXAMPLES)
    return chosen if len(chosen) else docs


def pass_at_1(references: Sequence[str], predictions: Sequence[str]) -> float:
    """1 where the reply, run as it stands with the tests behind it, ends without an error."""
    (tests,), (program,) = references, predictions
    return float(all(passes([f"{program}\n{tests}"])))
