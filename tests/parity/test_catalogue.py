"""lm-eval's task files, read by both programs; and which of them have their data at hand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hydra_eval.config.functions import TAG

from .catalogue import TaskFile, all_tasks, found_below, split_files
from .sides import our_config

pytestmark = pytest.mark.parity

EVERY = 3
"""Of so many tasks one is compared."""
NOT_OURS = ("include", "group", "class", "recipe")
"""Keys that are used up in reading, or belong to a Python class."""


@pytest.fixture(scope="module")
def tasks() -> dict[str, TaskFile]:
    pytest.importorskip("lm_eval", reason="needs lm-evaluation-harness (extra: parity)")
    return all_tasks()


def without_tags(value: Any) -> Any:
    """Functions named as lm-eval names those that it does not import."""
    if isinstance(value, Mapping):
        return {key: without_tags(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_tags(item) for item in value]
    return value.removeprefix(TAG) if isinstance(value, str) else value


def test_every_key_is_read_as_lm_eval_reads_it(tasks: dict[str, TaskFile], tmp_path: Path) -> None:
    different = []
    for task in list(tasks.values())[::EVERY]:
        (ours,) = our_config(task, tmp_path, shots=None).tasks.values()
        wanted = {key: value for key, value in task.config.items() if key not in NOT_OURS and value is not None}
        wanted |= {"dataset_path": ours["dataset_path"], "dataset_kwargs": None} if task.is_redirected else {}
        different += [(task.name, key) for key, value in wanted.items() if without_tags(ours.get(key)) != value]
    assert different == []


def test_found_names_what_is_missing(tasks: dict[str, TaskFile], tmp_path: Path) -> None:
    main = tmp_path / "openai" / "gsm8k" / "main"
    main.mkdir(parents=True)
    (main / "test.jsonl").touch()
    (tmp_path / "openai" / "openai_humaneval" / "any").mkdir(parents=True)
    (tmp_path / "openai" / "openai_humaneval" / "any" / "test.jsonl").touch()
    found = {one.task.name: one for one in found_below(tmp_path)}
    assert found["gsm8k"].reason == "openai/gsm8k main lacks the split train"
    assert found["gsm8k_cot"].reason is None
    assert found["gsm8k_cot"].files == {"test": main / "test.jsonl"}
    assert found["humaneval"].reason is None
    assert "arc_easy" not in found


def test_split_files_are_those_that_can_be_read(tmp_path: Path) -> None:
    for name in ("train.jsonl", "test.parquet", "README.md"):
        (tmp_path / name).touch()
    assert split_files(tmp_path) == {"train": tmp_path / "train.jsonl", "test": tmp_path / "test.parquet"}


def test_splits_and_family_of_a_task(tasks: dict[str, TaskFile]) -> None:
    assert tasks["arc_easy"].splits == ("train", "validation", "test")
    assert tasks["arc_easy"].family == "arc"
    assert tasks["arc_easy"].data_set == ("allenai/ai2_arc", "ARC-Easy")
    assert tasks["arithmetic_1dc"].data_set == ("made-up/arithmetic_1dc", "default")
