from __future__ import annotations

import logging

import pytest

from hydra_eval.config.schema import FewshotConfig
from hydra_eval.config.task_config import TaskConfig
from hydra_eval.errors import UserError
from hydra_eval.tasks.shots import pool_split, refuse_two_counts, shot_count


def task(num_fewshot: int | None = None, output_type: str = "multiple_choice", **splits: str) -> TaskConfig:
    return TaskConfig(task="t", file="t.yaml", num_fewshot=num_fewshot, output_type=output_type, **splits)


@pytest.mark.parametrize(
    ("own", "run", "spec", "expected"),
    [
        (None, None, None, 0),
        (3, None, None, 3),
        (3, 5, None, 5),
        (3, 0, None, 0),
        (None, 5, None, 5),
        (3, 5, 8, 8),
        (3, 5, 0, 0),
        (3, None, 8, 8),
        (0, None, None, 0),
        (0, 5, None, 5),
        (0, 5, 2, 2),
    ],
)
def test_the_spec_beats_the_run_beats_the_file(
    own: int | None, run: int | None, spec: int | None, expected: int
) -> None:
    assert shot_count(task(own), spec, FewshotConfig(n=run)) == expected


@pytest.mark.parametrize(("on_pinned", "spec", "expected"), [("keep", None, 0), ("replace", None, 5), ("keep", 2, 2)])
def test_a_zero_in_the_file_stays_only_if_it_is_to_be_kept(on_pinned: str, spec: int | None, expected: int) -> None:
    assert shot_count(task(0), spec, FewshotConfig(n=5, on_pinned=on_pinned)) == expected


def test_keep_does_not_pin_other_counts() -> None:
    assert shot_count(task(3), None, FewshotConfig(n=5, on_pinned="keep")) == 5
    assert shot_count(task(None), None, FewshotConfig(n=5, on_pinned="keep")) == 5


@pytest.mark.parametrize("on_pinned", ["keep", "replace"])
def test_a_line_names_the_task_whose_zero_is_concerned(on_pinned: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        shot_count(task(0), None, FewshotConfig(n=5, on_pinned=on_pinned))
    (line,) = caplog.messages
    assert line.startswith("t: its file says num_fewshot: 0") and "on_pinned" in line


def test_no_line_where_nothing_changes(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        shot_count(task(0), None, FewshotConfig(n=0))
        shot_count(task(0), 4, FewshotConfig(n=5))
    assert caplog.messages == []


@pytest.mark.parametrize(("own", "run", "spec"), [(None, 5, None), (None, None, 5), (3, None, None), (0, 5, None)])
def test_whole_texts_take_no_examples(own: int | None, run: int | None, spec: int | None) -> None:
    assert shot_count(task(own, "loglikelihood_rolling"), spec, FewshotConfig(n=run)) == 0


@pytest.mark.parametrize(
    ("own", "override", "splits", "expected"),
    [
        ("own", "run", {"training_split": "train"}, "run"),
        ("own", None, {"training_split": "train"}, "own"),
        (None, None, {"training_split": "train", "validation_split": "val", "test_split": "test"}, "train"),
        (None, None, {"validation_split": "val", "test_split": "test"}, "val"),
        (None, None, {"test_split": "test"}, "test"),
    ],
)
def test_examples_come_from_the_first_split_that_is_there(
    own: str | None, override: str | None, splits: dict[str, str], expected: str
) -> None:
    assert pool_split(task(**splits), own_split=own, override=override) == expected


@pytest.mark.parametrize(
    "overrides",
    [["fewshot.n=5", "tasks.a.num_fewshot=3"], ["tasks.a_b.num_fewshot=3", "+fewshot.n=0"]],
)
def test_two_counts_for_one_task_are_refused_with_the_way_out(overrides: list[str]) -> None:
    with pytest.raises(UserError, match=r"fewshot.n and tasks.a\w*.num_fewshot are both given.*'name\|n'"):
        refuse_two_counts(overrides)


@pytest.mark.parametrize(
    "overrides",
    [
        [],
        ["fewshot.n=5"],
        ["tasks.a.num_fewshot=3"],
        ["fewshot.n=5", "task=[a|3]"],
        ["fewshot.n=5", "tasks.a.fewshot_config={x: 1}"],
        ["fewshot.seed=5", "tasks.a.num_fewshot=3"],
    ],
)
def test_one_count_is_fine(overrides: list[str]) -> None:
    refuse_two_counts(overrides)
