"""Hooks for lists in which a few words come up far more often than the rest.

{"common": ["badona", "kiru"], "common_times": 4, "rare": ["lopi", "muveta"], "rare_times": 2, "seed": 7}
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from typing import Any


def write_out_list(doc: Mapping[str, Any]) -> dict[str, str]:
    """The row's words, each as often as the row says, in the order that its seed gives."""
    words = doc["common"] * doc["common_times"] + doc["rare"] * doc["rare_times"]
    random.Random(doc["seed"]).shuffle(words)
    return {"words": " ".join(words)}


def write_out_lists(docs: Any) -> Any:
    """Adds the column `words` to a `datasets.Dataset`; the files keep only what cannot be worked out."""
    return docs.map(write_out_list)


def answer(doc: Mapping[str, Any]) -> str:
    return ", ".join(doc["common"])


def score_reply(doc: Mapping[str, Any], results: list[str]) -> dict[str, float]:
    """Share of the common words among the first words named, as many as were asked for; and whether it is all of them.

    Words after those do not count, so that reciting the list earns nothing; neither does saying one word twice.
    """
    wanted = set(doc["common"])
    named = list(dict.fromkeys(re.findall(r"[a-z]+", results[0].lower())))[: len(wanted)]
    found = len(wanted.intersection(named))
    return {"recall": found / len(wanted), "all_found": float(found == len(wanted))}
