from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hydra_eval.config.schema import DataConfig
from hydra_eval.data.resolve import source_of
from hydra_eval.data.shelf import load_all
from hydra_eval.data.source import Source
from hydra_eval.errors import UserError
from hydra_eval.tasks.build import build_tasks

from ..toys import CHOICE, FRUIT, built, composed, write_rows, write_task
from .builders import task


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """What `datasets` is asked to load."""
    import datasets

    seen: list[Any] = []
    load_dataset = datasets.load_dataset

    def counted(*arguments: Any, **options: Any) -> Any:
        seen.append((arguments, options))
        return load_dataset(*arguments, **options)

    monkeypatch.setattr(datasets, "load_dataset", counted)
    yield seen


def wanted(folder: Path, count: int) -> dict[str, Source]:
    """That many tasks with a data set each."""
    found = {}
    for number in range(count):
        write_rows(folder / f"{number}.jsonl", [{"n": number, "row": row} for row in range(3)])
        config = task("json", folder, dataset_kwargs={"data_files": {"test": f"{number}.jsonl"}})
        found[f"t{number}"] = source_of(config, DataConfig())
    return found


@pytest.mark.parametrize("workers", [1, 2, 8])
def test_the_outcome_does_not_depend_on_the_number_of_workers(tmp_path: Path, workers: int) -> None:
    tasks = wanted(tmp_path, 12)
    done: list[None] = []
    shelf = load_all(tasks, workers=workers, retries=0, advance=lambda: done.append(None))
    assert list(shelf.loaded) == [source.key for source in tasks.values()]
    read = [shelf.rows(source, "test", None, purpose="documents").rows for source in tasks.values()]
    assert [rows[0]["n"] for rows in read] == list(range(12))
    assert len(done) == 12


def test_a_data_set_is_loaded_once_however_many_tasks_want_it(tmp_path: Path, loads: list[Any]) -> None:
    for name in ("one", "two", "three"):
        write_task(tmp_path, {**CHOICE, "task": name})
    tasks = built(tmp_path, "one", "two|1", "two|3", "three")
    assert (len(tasks), len(loads)) == (4, 1)


def test_every_failure_is_named_with_its_tasks(tmp_path: Path) -> None:
    tasks = wanted(tmp_path, 4)
    for number in (1, 3):
        (tmp_path / f"{number}.jsonl").write_text("{nope\n", encoding="utf-8")
    tasks["again"] = tasks["t3"]
    with pytest.raises(UserError) as caught:
        load_all(tasks, workers=2, retries=0)
    first, second = str(caught.value).splitlines()
    assert "1.jsonl, line 1" in first and first.endswith("(task t1)")
    assert "3.jsonl, line 1" in second and second.endswith("(tasks again, t3)")


HOOK = """
import json, pathlib

def counted(dataset):
    with open(pathlib.Path(__file__).parent / "calls", "a") as calls:
        calls.write(json.dumps(len(dataset)) + "\\n")
    return dataset
"""


@pytest.mark.parametrize(
    ("changes", "calls"),
    [
        ({}, [4, 5]),
        ({"fewshot_split": "test"}, [4, 4]),
        ({"test_split": ["test", "train"]}, [4, 5, 5]),
        ({"fewshot_config": {"process_docs": None}}, [4]),
    ],
    ids=["two splits", "one split for both", "several splits", "documents alone"],
)
def test_process_docs_runs_once_per_split_and_purpose(tmp_path: Path, changes: Any, calls: list[int]) -> None:
    (tmp_path / "utils.py").write_text(HOOK, encoding="utf-8")
    write_task(tmp_path, {**CHOICE, "process_docs": "!function utils.counted", **changes})
    built(tmp_path, "toy|1", "toy|2", "toy|3")
    assert [json.loads(line) for line in (tmp_path / "calls").read_text().splitlines()] == calls


def test_building_changes_no_config(tmp_path: Path) -> None:
    kwargs = {**CHOICE["dataset_kwargs"], "trust_remote_code": True}
    write_task(tmp_path, {**CHOICE, "dataset_kwargs": kwargs, "fewshot_config": {"sampler": "first_n"}})
    config = composed(tmp_path, "toy|1")
    before = copy.deepcopy(config)
    first, second = build_tasks(config), build_tasks(config)
    assert config == before
    assert [task.docs for task in first] == [task.docs for task in second]


def test_functions_of_tasks_run_one_by_one() -> None:
    running: list[str] = []

    def make(name: str) -> dict[str, Any]:
        running.append(name)
        assert len(running) == 1
        running.remove(name)
        return {"test": list(FRUIT)}

    tasks = {
        name: Source(kind="function", title=name, where="t.yaml", make=lambda name=name: make(name), owner=name)  # type: ignore[misc]
        for name in "abc"
    }
    assert len(load_all(tasks, workers=3, retries=0).loaded) == 3
