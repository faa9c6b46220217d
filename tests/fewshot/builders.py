"""Documents and pools of numbered rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from hydra_eval.fewshot import Picks, pick_shots
from hydra_eval.records import Doc
from hydra_eval.tasks.task import Row, Task, Template

from ..toys import docs_of, shot_plan, toy_task

WORDING = Template(
    text=lambda row: f"What is {row['n']}?",
    target=lambda row: row.get("answer", "a number"),
    choices=None,
    gen_prefix=lambda row: None,
    target_delimiter=" ",
    fewshot_delimiter="\n\n",
)


def numbered(numbers: Iterable[int], *, split: str = "test") -> tuple[Doc, ...]:
    """One document per number; equal numbers make equal rows."""
    return docs_of([{"n": number} for number in numbers], split=split)


def answered(answers: Sequence[str], *, split: str = "train") -> tuple[Doc, ...]:
    """One document per answer, which is its class."""
    return docs_of([{"n": n, "answer": answer} for n, answer in enumerate(answers)], split=split)


def task_of(docs: tuple[Doc, ...], *, name: str = "toy", asked: Sequence[Doc] | None = None, **plan: Any) -> Task:
    docs_asked = docs if asked is None else tuple(asked)
    return toy_task(
        name=name, all_docs=docs, docs=docs_asked, template=WORDING, shot_template=WORDING, shots=shot_plan(**plan)
    )


def picked(docs: tuple[Doc, ...], *, name: str = "toy", limit: int | None = None, **plan: Any) -> Picks:
    return pick_shots(task_of(docs, name=name, asked=docs[:limit], **plan))


def rows_of(picks: Picks) -> list[list[int]]:
    return [[shot.row["n"] for shot in shots] for shots in picks.shots]


def first_of_pool(pool: list[Row], doc: Row, n: int, seed: int) -> list[int]:
    """A strategy of a user's own."""
    return list(range(min(n, len(pool))))
