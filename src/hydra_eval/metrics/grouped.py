"""Scores of which a whole group of documents must be right: all sub-questions of one question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hydra_eval.errors import UserError
from hydra_eval.metrics import choice, likelihood
from hydra_eval.metrics.base import ChoiceOutcome, LikelihoodOutcome

QUESTION = ("idx.paragraph", "idx.question")
"""lm-eval's groups, those of SuperGLUE's multirc; a dot leads into a column that holds a mapping."""


def choice_and_group(outcome: ChoiceOutcome, *, group_by: Sequence[str] | str = QUESTION) -> tuple[bool, Any]:
    """(the likeliest choice is right, the document's values in the columns `group_by`)."""
    return choice.acc(outcome) == 1, group_of(outcome.doc, group_by)


def likelihood_and_group(outcome: LikelihoodOutcome, *, group_by: Sequence[str] | str = QUESTION) -> tuple[bool, Any]:
    """(the target is what greedy decoding gives, the document's values in the columns `group_by`)."""
    return likelihood.acc(outcome) == 1, group_of(outcome.doc, group_by)


def group_of(doc: Mapping[str, Any], group_by: Sequence[str] | str) -> tuple[Any, ...]:
    return tuple(_column(doc, column) for column in ([group_by] if isinstance(group_by, str) else group_by))


def _column(doc: Mapping[str, Any], column: str) -> Any:
    value: Any = doc
    for part in column.split("."):
        if not isinstance(value, Mapping) or part not in value:
            raise UserError(
                f"metric 'acc_all': the document has no column '{column}' to group by. Columns: "
                f"{', '.join(map(str, doc))}. Name others with its option group_by."
            )
        value = value[part]
    return value
