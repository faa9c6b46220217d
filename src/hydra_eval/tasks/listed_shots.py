"""Examples that the run names itself: rows of the pool by number, or rows written out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from hydra_eval.config.functions import resolve_callable
from hydra_eval.config.prompting import FewshotConfig
from hydra_eval.config.schema import RunConfig
from hydra_eval.errors import UserError, noted


def listed(fewshot: FewshotConfig) -> Sequence[Any] | None:
    """What the strategies `fixed` and `samples` show, in prompt order; None for another strategy.

    Raises UserError where nothing is listed.
    """
    if fewshot.strategy == "fixed":
        if not fewshot.indices:
            raise UserError("fewshot_strategy=fixed needs the rows to show, such as fewshot.indices=[3,1,7].")
        return list(fewshot.indices)
    return run_samples(fewshot) or None


def with_samples(config: RunConfig) -> RunConfig:
    """The same run with its samples written out: their function is called once, for all tasks."""
    rows = run_samples(config.fewshot)
    return replace(config, fewshot=replace(config.fewshot, samples=rows)) if rows else config


def run_samples(fewshot: FewshotConfig) -> list[Mapping[str, Any]]:
    """The rows that the run writes out for the strategy `samples`; none for another strategy."""
    return _written_out(fewshot.samples) if fewshot.strategy == "samples" else []


def _written_out(given: Any) -> list[Mapping[str, Any]]:
    """The rows of `fewshot.samples`: a list, or the name of a function that gives one."""
    if not given:
        raise UserError("fewshot_strategy=samples needs the rows to show: fewshot.samples=[{question: …, answer: …}].")
    if isinstance(given, str):
        function = resolve_callable(given, where="fewshot.samples")
        with noted(f"in fewshot.samples={given}"):
            given = function()
    return rows_of(given, "fewshot.samples")


def rows_of(value: Any, where: str) -> list[Mapping[str, Any]]:
    """Raises UserError for anything but rows."""
    rows = value() if callable(value) else value
    if not isinstance(rows, list | tuple) or not rows or not all(isinstance(row, Mapping) for row in rows):
        raise UserError(f"{where}: must be a list of rows (mappings), or a function that gives one, not {rows!r}.")
    return list(rows)
