"""Sample rows as one table per task: a line per document, one type per column."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from hydra_eval.records import SampleRow

ByFilter: TypeAlias = dict[str, SampleRow]
"""One document's rows."""


def sample_table(rows: Iterable[SampleRow]) -> tuple[list[str], list[list[Any]]]:
    """Column names, and a list of cells per document in the order in which documents first occur.

    Every cell is a number, a string or None, and a column holds one of the two kinds throughout: what is neither
    (a choice list, a metric's tuple) becomes JSON, for the whole column.
    """
    by_doc: dict[int, ByFilter] = {}
    for row in rows:
        by_doc.setdefault(row.doc_id, {})[row.filter] = row
    docs = list(by_doc.values())
    first = [next(iter(doc.values())) for doc in docs]
    columns = _doc_columns(first) | _filter_columns(docs) | _request_columns(first)
    return list(columns), [list(cells) for cells in zip(*columns.values(), strict=True)]


def _doc_columns(rows: Sequence[SampleRow]) -> dict[str, list[Any]]:
    reasoning = [_text(_unwrapped(row.reasoning, depth=1)) if row.reasoning else None for row in rows]
    return {
        "doc_id": [row.doc_id for row in rows],
        "prompt": [_prompt(row) for row in rows],
        "requests": [_json(_requests(row)) for row in rows],
        "resps": [_text(_unwrapped(row.resps, depth=2)) for row in rows],
        **({"reasoning": reasoning} if any(reasoning) else {}),
        "target": [_text(row.target) for row in rows],
    }


def _request_columns(rows: Sequence[SampleRow]) -> dict[str, list[Any]]:
    return {
        "shots": [_json(row.shots) for row in rows],
        "shots_requested": [row.shots_requested for row in rows],
        "shots_used": [row.shots_used for row in rows],
        "input_tokens": [_sum(row.input_tokens) for row in rows],
        "output_tokens": [_sum(row.output_tokens) for row in rows],
        "cut_tokens": [_sum(row.cut_tokens) for row in rows],
        "finish_reasons": [_json(row.finish_reasons) for row in rows],
    }


def _filter_columns(docs: Sequence[ByFilter]) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {}
    for name in _in_order(name for doc in docs for name in doc):
        rows = [doc.get(name) for doc in docs]
        columns[f"output[{name}]"] = [row and _text(_unwrapped(row.filtered_resps, depth=1)) for row in rows]
        for metric in _in_order(metric for row in rows if row for metric in row.scores):
            columns[f"{metric}[{name}]"] = _one_type([row.scores.get(metric) if row else None for row in rows])
    return columns


def _prompt(row: SampleRow) -> str | None:
    """The context of the first request; the text itself for a rolling log-likelihood."""
    return _text(row.arguments[0][0]) if row.arguments and row.arguments[0] else None


def _requests(row: SampleRow) -> list[Any]:
    """What the requests add to the prompt: choices or generation arguments; all of each where contexts differ."""
    alike = len({_json(arguments[:1]) for arguments in row.arguments}) <= 1
    return [_unwrapped(arguments[1:] if alike else arguments, depth=1) for arguments in row.arguments]


def _unwrapped(value: Any, *, depth: int) -> Any:
    """The only element of a list, `depth` lists deep, so that a single reply reads as text and not as JSON."""
    while depth and isinstance(value, list | tuple) and len(value) == 1:
        value, depth = value[0], depth - 1
    return value


def _one_type(values: Sequence[Any]) -> list[Any]:
    plain = [_number(value) for value in values]
    if all(value is None or isinstance(value, float) for value in plain):
        return plain
    return [_text(value) for value in plain]


def _number(value: Any) -> Any:
    """Booleans, integers and array scalars as float; anything else as it is."""
    if getattr(value, "ndim", None) == 0:
        value = value.item()
    return float(value) if isinstance(value, int | float) else value


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else _json(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=_plain)


def _plain(value: Any) -> Any:
    """Arrays and their scalars as lists and numbers; any other stranger as its text."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


def _sum(values: Sequence[int]) -> int | None:
    return sum(values) if values else None


def _in_order(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
