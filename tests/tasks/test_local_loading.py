from __future__ import annotations

import sys
import types
from typing import Any

import datasets
import pytest

from hydra_eval.config.schema import DataConfig
from hydra_eval.config.task_config import TaskConfig
from hydra_eval.errors import UserError
from hydra_eval.tasks.local_loading import local_loading

from ..toys import COLOURS, write_rows

TASK = TaskConfig(task="t", file="/t/t.yaml")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> DataConfig:
    root = tmp_path_factory.mktemp("root")
    for subset in ("default", "sub"):
        (root / "toys" / "colours" / subset).mkdir(parents=True)
        write_rows(root / "toys" / "colours" / subset / "odd.jsonl", COLOURS[: 4 if subset == "sub" else 2])
    return DataConfig(root=str(root), retries=0)


@pytest.mark.parametrize(
    ("args", "kwargs", "expected"),
    [
        (("toys/colours",), {"split": "odd"}, slice(2)),
        (("toys/colours", "sub"), {"split": "odd"}, slice(4)),
        ((), {"path": "toys/colours", "name": "sub", "split": "odd", "data_dir": None}, slice(4)),
        (("toys/colours", "sub"), {"split": "odd[1:3]"}, slice(1, 3)),
        (("toys/colours", "sub"), {"split": "odd[:25%]"}, slice(1)),
        (("toys/colours", "sub"), {"split": "odd", "trust_remote_code": True}, slice(4)),
    ],
    ids=["split", "subset", "by keyword", "slice", "percent", "trust"],
)
def test_a_split_is_read_below_data_root(data: DataConfig, args: Any, kwargs: Any, expected: slice) -> None:
    with local_loading(TASK, data):
        found = datasets.load_dataset(*args, **kwargs)
    assert [dict(row) for row in found] == [dict(row) for row in COLOURS[expected]]


def test_without_a_split_all_of_them_as_datasets_gives_them(data: DataConfig) -> None:
    with local_loading(TASK, data):
        found = datasets.load_dataset("toys/colours")
    assert isinstance(found, datasets.DatasetDict) and list(found) == ["odd"]


def test_functions_imported_by_name_are_caught_too_and_put_back(data: DataConfig) -> None:
    module = types.ModuleType("of_a_task")
    original = datasets.load_dataset
    module.load_dataset = original  # type: ignore[attr-defined]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "of_a_task", module)
        with local_loading(TASK, data):
            assert module.load_dataset is datasets.load_dataset is not original  # type: ignore[attr-defined]
    assert module.load_dataset is datasets.load_dataset is original  # type: ignore[attr-defined]


def test_what_is_not_there_is_said_with_the_tasks_file(data: DataConfig) -> None:
    with local_loading(TASK, data), pytest.raises(UserError, match=r"^/t/t.yaml: no answer from https://127.0.0.1:1"):
        datasets.load_dataset("json", data_files="https://127.0.0.1:1/x.jsonl")


def test_an_unknown_split_is_the_librarys_error(data: DataConfig) -> None:
    with local_loading(TASK, data), pytest.raises(ValueError, match="has no split 'even'; splits: odd"):
        datasets.load_dataset("toys/colours", split="even")
