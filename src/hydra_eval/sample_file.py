"""One row as a line of the samples file: lm-eval's fields first, in its order and spelling, then ours."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from hydra_eval.records import SampleRow


def sample_line(row: SampleRow) -> str:
    """One line of JSON, without its line end."""
    return json.dumps(sample_record(row), ensure_ascii=False, default=as_plain)


def sample_record(row: SampleRow) -> dict[str, Any]:
    """lm-eval's fields `doc_id` … `target_hash` and one per metric; then shots, token counts and, where any, ids."""
    target = str(row.target)
    return {
        "doc_id": row.doc_id,
        "doc": dict(row.doc),
        "target": target,
        "arguments": {
            f"gen_args_{number}": {f"arg_{place}": argument for place, argument in enumerate(arguments)}
            for number, arguments in enumerate(row.arguments)
        },
        "resps": [[_as_text(reply) for reply in replies] for replies in row.resps],
        "filtered_resps": [_as_text(output) for output in row.filtered_resps],
        "filter": row.filter,
        "metrics": list(row.scores),
        "doc_hash": doc_hash(row.doc),
        "prompt_hash": digest(row.arguments[0][0]),
        "target_hash": digest(target),
        **row.scores,
        "shots": list(row.shots),
        "shots_requested": row.shots_requested,
        "shots_used": row.shots_used,
        "input_tokens": list(row.input_tokens),
        "output_tokens": list(row.output_tokens),
        "cut_tokens": list(row.cut_tokens),
        "finish_reasons": list(row.finish_reasons),
        **({"reasoning": list(row.reasoning)} if row.reasoning else {}),
        **({"halvings": row.halvings} if row.halvings else {}),
        **({"input_ids": [list(ids) for ids in row.input_ids]} if row.input_ids else {}),
    }


def task_hash(rows: Iterable[SampleRow]) -> str:
    """lm-eval's `task_hashes` entry: over the documents', prompts' and targets' hashes of all rows."""
    return digest("".join(doc_hash(row.doc) + digest(row.arguments[0][0]) + digest(str(row.target)) for row in rows))


def doc_hash(doc: Mapping[str, Any]) -> str:
    return digest(json.dumps(dict(doc), indent=2, default=as_plain, ensure_ascii=False))


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", errors="backslashreplace")).hexdigest()


def as_plain(value: Any) -> Any:
    """What JSON does not know: numpy numbers as numbers, sets as lists, everything else as text."""
    if isinstance(value, set | frozenset):
        # Python orders text in a set anew in every process; numbers keep the order that lm-eval writes.
        return list(value) if all(isinstance(item, int) for item in value) else sorted(value, key=repr)
    item = getattr(value, "item", None)
    return item() if item is not None and getattr(value, "ndim", 1) == 0 else str(value)


def _as_text(reply: Any) -> Any:
    if isinstance(reply, tuple | list):
        return [_as_text(part) for part in reply]
    return reply if isinstance(reply, str) else str(reply)
