"""Hooks for scenes and their endings.

{"activity_label": "Baking bread", "ctx_a": "A woman weighs flour.", "ctx_b": "she", "label": "2",
 "endings": ["paints the scales.", "folds the bowl.", "adds warm water. [substeps] Stir it.", "eats the oven."]}
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

HEADING = " [title]"
"""WikiHow articles bring their mark-up along: this one begins a sentence, all others are dropped."""


def scene(doc: Mapping[str, Any]) -> str:
    """What is going on, and the sentences up to the ending."""
    return _clean(f"{doc['activity_label']}: {doc['ctx_a']} {doc['ctx_b'].capitalize()}")


def endings(doc: Mapping[str, Any]) -> list[str]:
    return [_clean(ending) for ending in doc["endings"]]


def _clean(text: str) -> str:
    sentences = text.strip().replace(HEADING, ". ")
    return re.sub(r"\[.*?\]", "", sentences).replace("  ", " ")
