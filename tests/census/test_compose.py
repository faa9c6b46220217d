from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hydra_eval.config.task_index import TaskIndex, task_index

from ..toys import write_yaml
from .compose import Report, census, installed_tree, lines, main

BROKEN_UPSTREAM = {
    "flan_held_in": "a member of the group 'flan_held_in::anli_r1_flan': unknown task 'anli_r1_prompt-0'",
    "t0_eval": "a member of the group 't0_eval' must be a name, or a mapping that has one",
}
"""Groups of lm-eval's tree that lm-eval cannot load either: tasks without data, members without names."""

NEEDS_EVALUATE = {"polemo2_in", "polemo2_out", "wmt-ro-en-t5-prompt"}
"""Tasks whose metric is code that the library `evaluate` fetches."""


@pytest.fixture(scope="module")
def tree() -> Path:
    pytest.importorskip("lm_eval")
    folder = installed_tree()
    assert folder is not None
    return folder


@pytest.fixture(scope="module")
def index(tree: Path) -> TaskIndex:
    return task_index((tree,))


@pytest.mark.parity
def test_every_task_and_group_of_lm_evals_tree_composes(tree: Path) -> None:
    """Takes 80 to 100 seconds of CPU: 13,000 tasks, each into the config system and out of it."""
    report = census([tree])
    assert report.counts["task"] > 13_000
    causes = {failure.name: failure.cause for failure in report.failures if failure.name not in NEEDS_EVALUATE}
    assert set(causes) == set(BROKEN_UPSTREAM), "\n".join(lines(report))
    assert all(reason in causes[name] for name, reason in BROKEN_UPSTREAM.items())
    assert set(report.refused) <= {"doc_to_image", "doc_to_audio"}


@pytest.mark.parity
@pytest.mark.parametrize("kind", ["tasks", "classes", "groups", "tags"])
def test_the_index_has_exactly_the_names_that_lm_eval_has(index: TaskIndex, theirs: dict[str, Any], kind: str) -> None:
    kinds = {"tasks": "task", "classes": "class", "groups": "group"}
    ours = index.tags if kind == "tags" else [e.name for e in index.entries.values() if e.kind == kinds[kind]]
    assert sorted(ours) == sorted(theirs[kind])


@pytest.mark.parity
def test_every_tag_has_exactly_the_tasks_that_lm_eval_gives_it(index: TaskIndex, theirs: dict[str, Any]) -> None:
    assert {tag: set(names) for tag, names in index.tags.items()} == theirs["tags"]


@pytest.fixture(scope="module")
def theirs(tree: Path) -> dict[str, Any]:
    """Names of lm-eval's own index by kind; of a tag also its tasks."""
    from lm_eval.tasks._index import Kind
    from lm_eval.tasks._index import TaskIndex as Theirs

    entries = Theirs.build([tree]).values()
    kinds = {"tasks": Kind.TASK, "classes": Kind.PY_TASK, "groups": Kind.GROUP}
    names: dict[str, Any] = {kind: [entry.name for entry in entries if entry.kind is at] for kind, at in kinds.items()}
    return names | {"tags": {entry.name: entry.tags for entry in entries if entry.kind is Kind.TAG}}


@pytest.fixture
def small(tmp_path: Path) -> Callable[..., Path]:
    """A tree of a sound task and a sound group, and what a test adds."""
    write_yaml(tmp_path / "good.yaml", {"task": "good", "dataset_path": "x", "process_docs": "!function utils.f"})
    write_yaml(tmp_path / "g.yaml", {"group": "g", "task": [{"task": "good", "num_fewshot": 2}]})

    def add(**content: Any) -> Path:
        if content:
            write_yaml(tmp_path / "new.yaml", {"dataset_path": "x", **content})
        return tmp_path

    return add


def outcome(report: Report) -> list[tuple[str, str]]:
    return [(failure.name, failure.stage) for failure in report.failures]


def test_a_sound_tree_has_no_failures_and_imports_nothing(small: Callable[..., Path]) -> None:
    report = census([small()])
    assert outcome(report) == []
    assert report.counts == {"task": 1, "group": 1, "tag": 0, "task of a group's own": 1}


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ({"task": "t", "description": "???"}, [("t", "compose")]),
        ({"task": "t", "num_fewshots": 2}, [("t", "config")]),
        ({"task": "t", "filter_list": [{"name": "x", "filter": [{"function": "no_such"}]}]}, [("t", "filters")]),
        ({"task": "t", "metric_list": [{"metric": "no_such_metric"}]}, [("t", "metrics")]),
        ({"group": "h", "task": ["no_such"]}, [("h", "compose")]),
        ({"group": "h", "task": [{"task": "good", "repeats": 0}]}, [("h", "config")]),
    ],
    ids=["text", "key", "filter", "metric", "member", "changed member"],
)
def test_what_cannot_be_composed_is_found(
    small: Callable[..., Path], content: dict[str, Any], found: list[tuple[str, str]]
) -> None:
    assert outcome(census([small(**content)])) == found


def test_functions_of_the_tasks_own_have_stand_ins(small: Callable[..., Path]) -> None:
    own = "!function utils.own"
    metrics = [{"metric": own, "aggregation": own, "higher_is_better": True, "option": 1}]
    steps = [{"function": "custom", "filter_fn": own}, {"function": own, "option": 1}]
    tree = small(task="t", metric_list=metrics, filter_list=[{"name": "x", "filter": steps}], doc_to_text=own)
    assert outcome(census([tree])) == []


def test_a_broken_file_and_a_refused_key_are_reported(
    small: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    tree = small(task="t", doc_to_image=["image"])
    (tree / "bad.yaml").write_text("task: [", encoding="utf-8")
    assert main(["--tasks", str(tree)]) == 1
    out = capsys.readouterr().out
    assert "refused by name for 'doc_to_image': t\n" in out
    assert f"file {tree}/bad.yaml (index): " in out
    assert "1  failures" in out
