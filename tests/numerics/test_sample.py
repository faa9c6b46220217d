from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hydra_eval.numerics.sample import Wanted, choose_documents, wanted_of
from hydra_eval.records import InstanceKey, RequestKind

from ..toys import GREEDY, docs_of, request, toy_task

MANY = docs_of([{"thing": str(number)} for number in range(40)])
TASK = toy_task(docs=MANY)
DRAWN = replace(GREEDY, do_sample=True, temperature=1.0)


def chosen(*tasks: Any, count: int = 5, seed: int = 1) -> list[int]:
    return sorted(key.doc for key in choose_documents(tasks, count=count, seed=seed).docs)


def test_documents_are_drawn_by_the_seed() -> None:
    assert len(set(chosen(TASK))) == 5
    assert chosen(TASK) == chosen(TASK) != chosen(TASK, seed=2)


def test_all_documents_of_a_small_task_are_in() -> None:
    assert chosen(TASK, count=40) == chosen(TASK, count=99) == list(range(40))


def test_cells_of_a_task_have_the_same_documents() -> None:
    cells = [replace(TASK, name=f"toy|{shots}") for shots in (0, 5)]
    sample = choose_documents(cells, count=5, seed=1)
    first, second = ([key.doc for key in sample.docs if key.task == cell.name] for cell in cells)
    assert first == second and len(first) == 5


@pytest.mark.parametrize(
    ("changes", "is_asked"),
    [
        ({}, True),
        ({"kind": RequestKind.GENERATE}, True),
        ({"kind": RequestKind.GENERATE, "generation": DRAWN}, False),
        ({"key": InstanceKey("toy", 0, 0, 1)}, False),
        ({"key": InstanceKey("toy", 41, 0, 0)}, False),
    ],
    ids=["scored", "greedy", "drawn by chance", "asked again by the task", "of another document"],
)
def test_what_leaves_nothing_to_chance_is_asked_once_more(changes: dict[str, Any], is_asked: bool) -> None:
    assert choose_documents([TASK], count=40, seed=1).asks(replace(request(), **changes)) is is_asked


def test_what_is_wanted_is_counted_by_task() -> None:
    other = toy_task(name="other")
    sample = choose_documents([TASK, other], count=40, seed=1)
    instances = [request(), request(index=1), request(kind=RequestKind.GENERATE, generation=DRAWN)]
    assert wanted_of(sample, instances) == {
        "toy": Wanted(requests=2, sampled=1),
        "other": Wanted(requests=0, sampled=0),
    }
