from __future__ import annotations

from typing import Any

import pytest

from hydra_eval.fewshot import pick_shots
from hydra_eval.fewshot.facts import shot_facts
from hydra_eval.records import Doc

from .builders import numbered, task_of

DOCS = numbered(range(6))
TRAIN = numbered(range(100, 110), split="train")


def facts(docs: tuple[Doc, ...] = DOCS, **plan: Any) -> dict[str, Any]:
    task = task_of(docs, asked=docs[:4], **plan)
    picks = pick_shots(task)
    return shot_facts(task, picks, [picks.shots[doc.index] for doc in task.docs])


def test_what_was_asked_and_what_was_shown() -> None:
    found = facts(pool=TRAIN, n=3, strategy="first_n", order="reversed", seed=5)
    assert (
        found["picks_hash"]
        == facts(pool=TRAIN, n=3, strategy="fixed", indices=(0, 1, 2), order="reversed")["picks_hash"]
    )
    assert {name: value for name, value in found.items() if name != "picks_hash"} == {
        "strategy": "first_n",
        "sampler": None,
        "compat": "lm_eval",
        "n": 3,
        "seed": 5,
        "order": "reversed",
        "split": "train",
        "pool": 10,
        "from_eval": False,
        "replaced": 0,
        "shown": {"min": 3, "mean": 3.0, "max": 3},
        "short": 0,
        "shown_from_eval": 0,
    }


def test_the_evaluated_documents_count() -> None:
    docs = numbered([0, 0, 1, 2, 3, 3])
    found = facts(docs, pool=docs[:3], n=2, strategy="first_n", shortfall="allow", from_eval=True)
    assert found["shown"] == {"min": 1, "mean": 1.5, "max": 2}
    assert (found["short"], found["replaced"], found["shown_from_eval"], found["from_eval"]) == (2, 4, 6, True)


def test_rows_of_another_split_are_not_from_the_evaluated_one() -> None:
    assert facts(pool=(*DOCS[4:], *TRAIN[2:3]), n=3, strategy="first_n")["shown_from_eval"] == 8


@pytest.mark.parametrize(("plan", "shown"), [({"n": 0}, 0), ({"n": 2, "drawn_by_task": True}, None)], ids=["0", "own"])
def test_without_a_pool(plan: dict[str, Any], shown: int | None) -> None:
    found = facts(pool=(), **plan)
    assert found["shown"] == (None if shown is None else {"min": 0, "mean": 0.0, "max": 0})
    assert (found["short"], found["picks_hash"]) == (0, None)


def test_what_a_short_window_leaves_is_what_is_shown() -> None:
    task = task_of(DOCS, asked=DOCS[:4], pool=TRAIN, n=3, strategy="first_n")
    found = shot_facts(task, pick_shots(task), [TRAIN[:3], TRAIN[:1], (), TRAIN[:2]])
    assert (found["n"], found["shown"]) == (3, {"min": 0, "mean": 1.5, "max": 3})
