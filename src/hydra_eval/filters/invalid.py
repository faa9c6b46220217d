"""How often a pipeline found no answer in the reply: a broken regular expression looks like a weak model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hydra_eval.filters.extraction import NO_TAGS, NOT_FOUND
from hydra_eval.records import SampleRow


def invalid_rates(rows: Iterable[SampleRow]) -> dict[str, dict[str, float]]:
    """Task → pipeline → share of its documents for which the extraction fell back to `[invalid]`.

    A document with several replies left counts by their share. Pipelines that leave no text have no rate; neither can
    a `fallback` of the user's own be told from an answer.
    """
    shares: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        share = _share(list(row.filtered_resps))
        if share is not None:
            shares.setdefault((row.task, row.filter), []).append(share)
    rates: dict[str, dict[str, float]] = {}
    for (task, pipeline), found in shares.items():
        rates.setdefault(task, {})[pipeline] = sum(found) / len(found)
    return rates


def _share(output: Any) -> float | None:
    """Share of the texts within an output that stand for no answer; None where it holds no text."""
    if output in (NOT_FOUND, NO_TAGS):
        return 1.0
    if isinstance(output, str):
        return 0.0
    parts = [_share(part) for part in output] if isinstance(output, list | tuple) else []
    known = [part for part in parts if part is not None]
    return sum(known) / len(known) if known else None
