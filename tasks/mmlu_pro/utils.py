"""Hooks for questions with up to ten answers.

{"question": "Which gas do yeasts give off?", "options": ["Neon", "Carbon dioxide"], "answer": "B",
 "category": "biology", "cot_content": "A: Let's think step by step. Yeasts ferment sugar. The answer is (B)."}
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

OPENING = "A: Let's think step by step. "
"""The prompt ends with these words: an example's reasoning goes on after them."""


def reasoning(doc: Mapping[str, Any]) -> str:
    return str(doc["cot_content"]).replace(OPENING, "")


def _of_category(category: str, dataset: Any) -> Any:
    return dataset.filter(lambda doc: doc["category"] == category)


biology = partial(_of_category, "biology")
business = partial(_of_category, "business")
chemistry = partial(_of_category, "chemistry")
computer_science = partial(_of_category, "computer science")
economics = partial(_of_category, "economics")
engineering = partial(_of_category, "engineering")
health = partial(_of_category, "health")
history = partial(_of_category, "history")
law = partial(_of_category, "law")
math = partial(_of_category, "math")
other = partial(_of_category, "other")
philosophy = partial(_of_category, "philosophy")
physics = partial(_of_category, "physics")
psychology = partial(_of_category, "psychology")
