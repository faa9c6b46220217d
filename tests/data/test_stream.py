"""Streamed data sets: no row is read that nobody wants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from hydra_eval.config.schema import DataConfig
from hydra_eval.data.choice import Choice, Subset
from hydra_eval.data.load import head
from hydra_eval.data.stream import POOL_ROWS, heads_of

from ..toys import CHOICE, COLOURS, built, write_rows, write_task
from .builders import task


@pytest.mark.parametrize(
    ("count", "read", "cut"), [(3, 3, True), (10, 10, True), (11, 10, False), (None, 10, False)], ids=str
)
def test_only_the_wanted_rows_are_read(count: int | None, read: int, cut: bool) -> None:
    from datasets import IterableDataset

    asked: list[int] = []

    def source() -> Iterator[dict[str, int]]:
        for n in range(10):
            asked.append(n)
            yield {"n": n}

    found, is_cut = head(IterableDataset.from_generator(source), count)
    assert ([row["n"] for row in found], asked, is_cut) == (list(range(read)), list(range(read)), cut)


def test_a_data_set_that_is_no_stream_stays_as_it_is() -> None:
    from datasets import Dataset

    rows = Dataset.from_list([{"n": 1}, {"n": 2}])
    assert head(rows, 1) == (rows, False)


@pytest.mark.parametrize(
    ("choice", "data", "wanted"),
    [
        (Choice(limit=7), {}, 7),
        (Choice(limit=2.0), {}, 2),
        (Choice(ids=(3, 8)), {}, 9),
        (Choice(), {}, None),
        (Choice(limit=0.5), {}, None),
        (Choice(subset=Subset(n=2, seed=0, stratify=None)), {}, None),
        (Choice(limit=7, dedupe=True), {}, None),
        (Choice(limit=7), {"shuffle_seed": 0}, None),
    ],
    ids=["count", "whole float", "numbers", "all", "share", "subset", "distinct", "shuffled"],
)
def test_how_many_documents_are_read(tmp_path: Path, choice: Choice, data: Mapping[str, Any], wanted: Any) -> None:
    config = DataConfig(streaming=True, **data)
    assert heads_of(task("org/name", tmp_path), config, choice, pool=()) == {"test": wanted}


@pytest.mark.parametrize(
    ("pool", "heads"),
    [((), {"test": 7}), (("train",), {"train": POOL_ROWS, "test": 7}), (("test",), {"test": POOL_ROWS})],
    ids=["no examples", "another split", "the same split"],
)
def test_the_pool_of_examples_is_as_large_at_every_limit(tmp_path: Path, pool: Any, heads: dict[str, int]) -> None:
    config = DataConfig(streaming=True)
    assert heads_of(task("org/name", tmp_path), config, Choice(limit=7), pool=pool) == heads


@pytest.mark.parametrize(
    ("kwargs", "streams"), [({"streaming": True}, True), ({"streaming": False}, False), (None, False)], ids=str
)
def test_a_task_may_stream_by_itself(tmp_path: Path, kwargs: Any, streams: bool) -> None:
    heads = heads_of(task("org/name", tmp_path, dataset_kwargs=kwargs), DataConfig(), Choice(), pool=())
    assert (heads is not None) is streams


def test_a_streamed_task_has_the_documents_and_examples_of_a_loaded_one(tmp_path: Path) -> None:
    write_task(tmp_path)
    (loaded,) = built(tmp_path, "toy|2", limit=2)
    (streamed,) = built(tmp_path, "toy|2", limit=2, data=DataConfig(streaming=True))
    assert [doc.row for doc in streamed.docs] == [doc.row for doc in loaded.docs]
    assert streamed.shots.pool == loaded.shots.pool
    assert (len(loaded.all_docs), len(streamed.all_docs)) == (4, 2)
    assert streamed.data is not None and streamed.data.is_partial


def test_process_docs_of_a_streamed_task_sees_the_rows_that_were_read(tmp_path: Path) -> None:
    hook = "def seen(dataset):\n    return [{**row, 'of': len(dataset)} for row in dataset]\n"
    (tmp_path / "utils.py").write_text(hook, encoding="utf-8")
    write_task(tmp_path, {**CHOICE, "process_docs": "!function utils.seen"})
    write_rows(tmp_path / "test.jsonl", COLOURS)
    (task,) = built(tmp_path, limit=3, data=DataConfig(streaming=True))
    assert [doc.row["of"] for doc in task.docs] == [3, 3, 3]
