from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hydra_eval.config.schema import DataConfig, ModelConfig, RunConfig
from hydra_eval.config.task_config import TaskConfig
from hydra_eval.errors import UserError
from hydra_eval.tasks.build import build_tasks
from hydra_eval.tasks.custom_data import custom_splits, run_metadata

from ..toys import composed, write_yaml

MAKE = """
import datasets

def make(max_seq_lengths=(4,), **kwargs):
    rows = [{"length": length, "tokenizer": kwargs.get("tokenizer", "none")} for length in max_seq_lengths]
    return {"test": datasets.Dataset.from_list(rows)}

def listed(**kwargs):
    return [kwargs]
"""
TASK: dict[str, Any] = {
    "task": "lengths",
    "custom_dataset": "!function make.make",
    "test_split": "test",
    "doc_to_text": "{{length}} {{tokenizer}}",
    "doc_to_target": "length",
    "metadata": {"version": 1.0, "max_seq_lengths": [8, 16]},
}


def task_of(folder: Path, **changes: Any) -> TaskConfig:
    return TaskConfig(task="lengths", file=f"{folder}/lengths.yaml", **changes)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "make.py").write_text(MAKE, encoding="utf-8")
    write_yaml(tmp_path / "lengths.yaml", TASK)
    return tmp_path


def test_metadata_reaches_the_function(folder: Path) -> None:
    (task,) = build_tasks(composed(folder, "lengths"))
    assert [doc.row["length"] for doc in task.docs] == [8, 16]


def test_what_the_command_line_says_of_metadata_counts(folder: Path) -> None:
    config = composed(folder, "lengths", model=ModelConfig(tokenizer="mine"))
    config.tasks["lengths"]["metadata"]["max_seq_lengths"] = [4096]
    (task,) = build_tasks(config)
    assert [dict(doc.row) for doc in task.docs] == [{"length": 4096, "tokenizer": "mine"}]


def test_arguments_are_lm_evals() -> None:
    seen: dict[str, Any] = {}

    def make(**kwargs: Any) -> dict[str, Any]:
        seen.update(kwargs)
        return {}

    task = task_of(Path("/t"), custom_dataset=make, metadata={"version": 2, "size": 3}, dataset_kwargs={"part": "b"})  # type: ignore[arg-type]
    custom_splits(task, RunConfig(model=ModelConfig(pretrained="org/model", tokenizer="org/words")))
    assert seen == {
        "pretrained": "org/model",
        "tokenizer": "org/words",
        "version": 2,
        "size": 3,
        "config_source": "/t/lengths.yaml",
        "part": "b",
    }


def test_metadata_wins_over_the_models_settings() -> None:
    task = task_of(Path("/t"), metadata={"tokenizer": "other"})
    assert run_metadata(task, ModelConfig(tokenizer="mine"))["tokenizer"] == "other"


@pytest.mark.parity
def test_the_function_is_called_as_lm_eval_calls_it(folder: Path) -> None:
    tasks = pytest.importorskip("lm_eval.tasks", reason="needs lm-evaluation-harness (extra: parity)")
    arguments = {"tokenizer": "mine", "max_seq_lengths": [4096]}
    manager = tasks.TaskManager(include_path=str(folder), include_defaults=False, metadata=arguments)
    theirs = manager.load(["lengths"])["tasks"]["lengths"]
    config = composed(folder, "lengths", model=ModelConfig(tokenizer="mine"))
    config.tasks["lengths"]["metadata"]["max_seq_lengths"] = [4096]
    (ours,) = build_tasks(config)
    assert [dict(doc.row) for doc in ours.docs] == list(theirs.test_docs())


def test_a_function_that_gives_no_splits_is_refused(folder: Path) -> None:
    write_yaml(folder / "lengths.yaml", TASK | {"custom_dataset": "!function make.listed"})
    with pytest.raises(UserError, match="custom_dataset must give a mapping from splits to rows, but gave a list"):
        build_tasks(composed(folder, "lengths", data=DataConfig()))
