"""Column types as a task's YAML writes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hydra_eval.errors import UserError


def features_of(columns: Mapping[str, Any], *, where: str) -> Any:
    """`datasets.Features` of `{column: {dtype: string, sequence: true}}`, or of the library's own spelling."""
    from datasets import Features

    try:
        return Features.from_dict({column: _spelt_out(kind) for column, kind in columns.items()})
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise UserError(
            f"{where}: not understood ({error}). Write each column as {{dtype: string}}, with 'sequence: true' for a "
            "list of them."
        ) from error


def _spelt_out(kind: Any) -> Any:
    if isinstance(kind, str):
        return {"_type": "Value", "dtype": kind}
    if not isinstance(kind, Mapping) or "_type" in kind:
        return kind
    if "dtype" not in kind:
        return {column: _spelt_out(inner) for column, inner in kind.items()}
    value = {"_type": "Value", "dtype": kind["dtype"]}
    return {"_type": "List", "feature": value} if kind.get("sequence") else value
