"""Scores of RULER: which of the answers a reply has. One result per length, named after it.

{"input": "…", "outputs": ["4821907"], "max_length": 4096, "gen_prefix": "The special magic number for … is"}
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

CONTROL = re.compile(r"[\x00-\x1f]")


def share_found(doc: Mapping[str, Any], results: list[str]) -> dict[str, float]:
    found = _found(doc, results)
    return {str(doc["max_length"]): sum(found) / len(found)}


def any_found(doc: Mapping[str, Any], results: list[str]) -> dict[str, float]:
    """The answers are spellings of one."""
    return {str(doc["max_length"]): float(any(_found(doc, results)))}


def _found(doc: Mapping[str, Any], results: list[str]) -> list[bool]:
    """In any case; control characters count as line breaks."""
    reply = CONTROL.sub("\n", results[0].strip()).lower()
    return [answer.lower() in reply for answer in doc["outputs"]]
