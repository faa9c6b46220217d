from __future__ import annotations

import operator
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from hydra_eval.results.aggregate import MetricResult, TaskResult
from hydra_eval.results.file import commit_of, directions_of, environment, plain

from ..toys import toy_task


def count(doc: Any, *, top: int) -> int:
    return min(len(doc), top)


COUNT = "def count(doc: Any, *, top: int) -> int:\n    return min(len(doc), top)\n"


@pytest.mark.parametrize(
    ("function", "shown"),
    [
        (count, COUNT),
        (partial(count, top=3), f"partial({COUNT}, *[], **{{'top': 3}})"),
        (partial(partial(count), "ab"), f"partial({COUNT}, *['ab'], **{{}})"),
        (len, "len"),
        (operator.itemgetter("a"), "itemgetter"),
    ],
    ids=["function", "partial", "partial of a partial", "builtin", "object"],
)
def test_a_function_is_shown_without_its_place_in_memory(function: Callable[..., Any], shown: str) -> None:
    assert plain({"process_docs": [function]}) == {"process_docs": [shown]}


def test_the_commit_is_that_of_the_folder(tmp_path: Path) -> None:
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b.c"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "first"], check=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout
    assert head.startswith(commit_of(tmp_path) or "none")


def test_a_folder_without_a_repository_has_no_commit(tmp_path: Path) -> None:
    assert commit_of(tmp_path) is None


def test_the_environment_names_the_libraries() -> None:
    assert {line.partition(" ")[0] for line in environment().splitlines()} >= {"Python", "torch", "transformers"}


def test_a_direction_is_told_of_every_metric_named_or_reported() -> None:
    found = MetricResult(
        metric="acc@1", filter="none", value=0.5, stderr=None, stderr_by="none", n=4, higher_is_better=False
    )
    result = TaskResult(task=toy_task(), metrics=(found,), rows=())
    assert directions_of(result) == {"acc": True, "acc_norm": True, "acc@1": False}
