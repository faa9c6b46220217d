"""Which of a task's documents are evaluated. A choice changes no prompt: examples are drawn over all documents."""

from __future__ import annotations

import json
import math
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from hydra_eval.data.choice import Choice, Subset
from hydra_eval.errors import UserError, at_document, did_you_mean
from hydra_eval.records import Doc

Asked: TypeAlias = Callable[[Mapping[str, Any]], Any]
"""Row → what is asked and its answer: equal for duplicates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The documents to evaluate, in order of their number."""

    docs: tuple[Doc, ...]
    duplicates: int | None
    """Left out because an earlier one asks the same; None where nobody looked."""


def choose(docs: Sequence[Doc], choice: Choice, asked: Asked) -> Chosen:
    """The documents that a run's choice leaves."""
    named = list(docs) if choice.ids is None else by_number(docs, choice.ids)
    left = distinct(named, asked) if choice.dedupe else named
    found = left[: amount(choice.limit, len(left))] if choice.subset is None else draw(left, choice.subset)
    return Chosen(docs=tuple(found), duplicates=len(named) - len(left) if choice.dedupe else None)


def amount(asked: Any, total: int) -> int:
    """lm-eval's rule: below 1 a share, rounded up; else a count, so that 1.0 is one document."""
    if asked is None:
        return total
    return math.ceil(asked * total) if asked < 1 else min(int(asked), total)


def distinct(docs: Iterable[Doc], asked: Asked) -> list[Doc]:
    """The first of all documents that ask the same and have the same answer."""
    first: dict[str, Doc] = {}
    for doc in docs:
        with at_document(doc.task, doc.index):
            first.setdefault(_text(asked(doc.row)), doc)
    return list(first.values())


def by_number(docs: Sequence[Doc], ids: Iterable[int]) -> list[Doc]:
    """The documents of these numbers, in order, each once."""
    wanted = sorted(set(ids))
    if wanted[-1] >= len(docs):
        beyond = [str(index) for index in wanted if index >= len(docs)][:5]
        raise UserError(
            f"sample_ids: task '{docs[0].task}' has documents 0 to {len(docs) - 1}, and no {', '.join(beyond)}."
        )
    return [docs[index] for index in wanted]


def draw(docs: Sequence[Doc], subset: Subset) -> list[Doc]:
    """A seeded choice, in order; each value of the column `stratify` keeps its share.

    The same for every model and number of processes. Of one stratum, a larger quota adds to what a smaller one has.
    """
    strata: dict[str, list[Doc]] = defaultdict(list)
    for doc in docs:
        strata[_stratum(doc, subset.stratify)].append(doc)
    sizes = {value: len(members) for value, members in strata.items()}
    quotas = largest_remainders(sizes, amount(subset.n, len(docs)))
    found: list[Doc] = []
    for value, members in strata.items():
        found += random.Random(f"{subset.seed}/{value}").sample(members, len(members))[: quotas[value]]
    return sorted(found, key=lambda doc: doc.index)


def largest_remainders(sizes: Mapping[str, int], seats: int) -> dict[str, int]:
    """`seats` shared out in proportion to `sizes`: whole parts first, then by the largest remainder, then by name."""
    total = sum(sizes.values())
    quotas = {name: seats * size // total for name, size in sizes.items()}
    by_remainder = sorted(sizes, key=lambda name: (-(seats * sizes[name] % total), name))
    for name in by_remainder[: seats - sum(quotas.values())]:
        quotas[name] += 1
    return quotas


def _stratum(doc: Doc, column: str | None) -> str:
    if column is None:
        return ""
    if column not in doc.row:
        near = did_you_mean(column, doc.row)
        raise UserError(
            f"subset.stratify={column}: task '{doc.task}' has no such column.{near} Columns: {', '.join(doc.row)}."
        )
    return _text(doc.row[column])


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=repr)
