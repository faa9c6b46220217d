from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hydra_eval.config.schema import DataConfig
from hydra_eval.errors import UserError
from hydra_eval.fewshot import pick_shots
from hydra_eval.records import Doc
from hydra_eval.tasks.task import Task

from ..toys import CHOICE, COLOURS, FRUIT, built, write_task

BOTH = {"test_split": ["test", "train"], "fewshot_split": "train"}


def task_of(folder: Path, changes: dict[str, Any], spec: str = "toy", **run: Any) -> Task:
    write_task(folder, {**CHOICE, **changes})
    return built(folder, spec, **run)[0]


@pytest.mark.parametrize("key", ["test_split", "validation_split"])
def test_several_splits_come_one_after_the_other(tmp_path: Path, key: str) -> None:
    task = task_of(tmp_path, {"test_split": None, key: ["test", "train"]})
    assert [doc.row for doc in task.docs] == [*COLOURS, *FRUIT]
    assert [doc.index for doc in task.docs] == list(range(9))
    assert [doc.origin for doc in task.docs][3:6] == [("test", 3), ("train", 0), ("train", 1)]


def test_no_document_of_several_splits_is_its_own_example(tmp_path: Path) -> None:
    task = task_of(tmp_path, BOTH, "toy|3")
    for doc, shots in zip(task.docs, pick_shots(task).shots, strict=True):
        assert len(shots) == 3
        assert doc.origin not in [shot.origin for shot in shots]


def test_examples_may_come_from_several_splits(tmp_path: Path) -> None:
    task = task_of(tmp_path, {"test_split": ["test", "train"], "fewshot_split": None}, "toy|3")
    assert [shot.row for shot in task.shots.pool] == [*COLOURS, *FRUIT]
    assert task.shots.pool_split == "test+train"


def test_a_split_that_is_not_there_fails_at_once(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"toy.yaml: the data set has no split 'tset'. Did you mean 'test'\?"):
        task_of(tmp_path, {"test_split": ["train", "tset"]})


@pytest.mark.parametrize("seed", [0, 42])
def test_another_order_renumbers_the_documents_and_keeps_their_origin(tmp_path: Path, seed: int) -> None:
    task = task_of(tmp_path, BOTH, data=DataConfig(shuffle_seed=seed))
    rows = {("test", n): row for n, row in enumerate(COLOURS)} | {("train", n): row for n, row in enumerate(FRUIT)}
    assert [doc.index for doc in task.docs] == list(range(9))
    assert [doc.origin for doc in task.docs] != list(rows)
    assert {doc.origin: doc.row for doc in task.docs} == rows


def test_the_order_is_lightevals_for_the_same_seed(tmp_path: Path) -> None:
    """`random.Random(42).shuffle` of six rows."""
    write_task(tmp_path, CHOICE, test=[{**COLOURS[0], "thing": str(n)} for n in range(6)])
    (task,) = built(tmp_path, data=DataConfig(shuffle_seed=42))
    assert [doc.row["thing"] for doc in task.docs] == ["3", "1", "2", "4", "0", "5"]


def picks_by_document(task: Task) -> dict[int, tuple[Doc, ...]]:
    shots = pick_shots(task).shots
    return {doc.index: shots[doc.index] for doc in task.docs}


def test_a_limit_takes_the_first_of_another_order(tmp_path: Path) -> None:
    whole = task_of(tmp_path, {}, "toy|1", data=DataConfig(shuffle_seed=1))
    limited = task_of(tmp_path, {}, "toy|1", data=DataConfig(shuffle_seed=1), limit=2)
    assert limited.docs == whole.docs[:2]
    assert picks_by_document(limited) == {n: shots for n, shots in picks_by_document(whole).items() if n < 2}


@pytest.mark.parametrize(
    "run",
    [{"limit": 1}, {"sample_ids": {"toy": [3]}}, {"data": DataConfig(dedupe=True)}],
    ids=["limit", "numbers", "distinct"],
)
def test_a_choice_changes_no_prompt(tmp_path: Path, run: dict[str, Any]) -> None:
    whole = picks_by_document(task_of(tmp_path, {}, "toy|2"))
    chosen = picks_by_document(task_of(tmp_path, {}, "toy|2", **run))
    assert chosen and chosen == {number: whole[number] for number in chosen}


def test_three_equal_documents_become_one(tmp_path: Path) -> None:
    rows = [{**row, "id": number} for number, row in enumerate((COLOURS[0], COLOURS[0], COLOURS[1], COLOURS[0]))]
    write_task(tmp_path, CHOICE, test=rows, train=rows)
    (task,) = built(tmp_path, data=DataConfig(dedupe=True))
    assert [doc.index for doc in task.docs] == [0, 2]
    assert task.data is not None
    assert (task.data.duplicates, task.data.documents, task.data.is_partial) == (2, 4, False)


def test_documents_with_another_answer_are_no_duplicates(tmp_path: Path) -> None:
    write_task(tmp_path, CHOICE, test=[COLOURS[0], {**COLOURS[0], "label": 1}])
    assert len(built(tmp_path, data=DataConfig(dedupe=True))[0].docs) == 2


HOOK = "def kept(dataset):\n    return dataset.select(range({}))\n"


@pytest.mark.parametrize(("kept", "warned"), [(1, True), (2, False), (4, False)])
def test_a_hook_that_drops_more_than_half_is_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, kept: int, warned: bool
) -> None:
    (tmp_path / "utils.py").write_text(HOOK.format(kept), encoding="utf-8")
    task = task_of(tmp_path, {"process_docs": "!function utils.kept"})
    assert any("process_docs dropped 3 of the 4 rows of split 'test'" in text for text in caplog.messages) is warned
    assert task.data is not None
    assert (task.data.splits[0].read, task.data.splits[0].kept, task.data.splits[0].dropped) == (4, kept, 4 - kept)


def test_a_hook_that_drops_all_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "utils.py").write_text(HOOK.format(0), encoding="utf-8")
    with pytest.raises(UserError, match="split 'test' has no documents left to evaluate: process_docs dropped all 4"):
        task_of(tmp_path, {"process_docs": "!function utils.kept"})


def test_a_documents_row_is_its_own(tmp_path: Path) -> None:
    write_task(tmp_path)
    one, other = built(tmp_path, "toy|0", "toy|1")
    one.docs[0].row["thing"] = "changed"  # type: ignore[index]
    assert other.docs[0].row["thing"] == "grass"
