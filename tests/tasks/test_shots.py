from __future__ import annotations

import logging
from typing import Any

import pytest

from hydra_eval.config.schema import FewshotConfig
from hydra_eval.config.task_config import TaskConfig
from hydra_eval.errors import UserError
from hydra_eval.tasks.shots import pool_split, refuse_two_counts, shot_counts


def task(num_fewshot: int | None = None, output_type: str = "multiple_choice", **splits: str) -> TaskConfig:
    return TaskConfig(task="t", file="t.yaml", num_fewshot=num_fewshot, output_type=output_type, **splits)


def two_rows() -> list[dict[str, str]]:
    return [{"q": "a"}, {"q": "b"}]


def shot_count(config: TaskConfig, spec: int | None, fewshot: FewshotConfig) -> int:
    """Where one number is asked for, or none."""
    (count,) = shot_counts(config, spec, fewshot).values()
    return count


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


@pytest.mark.parametrize(
    ("own", "spec", "changes", "expected"),
    [
        (3, None, {}, {0: 0, 5: 5}),
        (3, 8, {}, {8: 8}),
        (0, None, {}, {0: 0, 5: 5}),
        (0, None, {"on_pinned": "keep"}, {0: 0, 5: 0}),
        (3, None, {"n": None}, {None: 3}),
    ],
    ids=["each", "the SPEC's own", "a zero that gives way", "a zero that stays", "none asked"],
)
def test_of_a_list_every_number_is_asked(
    own: int, spec: int | None, changes: dict[str, Any], expected: dict[int | None, int]
) -> None:
    assert shot_counts(task(own), spec, FewshotConfig(**{"n": [0, 5], **changes})) == expected


def test_whole_texts_take_none_of_a_list() -> None:
    assert shot_counts(task(None, "loglikelihood_rolling"), None, FewshotConfig(n=[0, 1, 5])) == {0: 0, 1: 0, 5: 0}


@pytest.mark.parametrize(
    ("given", "spec", "expected"),
    [
        ({"strategy": "fixed", "indices": [4, 0]}, None, 2),
        ({"strategy": "samples", "samples": [{"q": "a"}]}, None, 1),
        ({"strategy": "samples", "samples": f"{__name__}:two_rows"}, None, 2),
        ({"strategy": "fixed", "indices": [4, 0], "n": 1}, None, 1),
        ({"strategy": "fixed", "indices": [4, 0]}, 1, 1),
        ({"strategy": "random", "indices": [4, 0]}, None, 3),
    ],
    ids=["fixed", "samples", "a function's", "fewshot.n", "name|n", "another strategy"],
)
def test_named_examples_are_counted_where_no_number_is_given(
    given: dict[str, Any], spec: int | None, expected: int
) -> None:
    assert shot_count(task(3), spec, FewshotConfig(**given)) == expected


def fixed_task(fixed: Any = True) -> TaskConfig:
    return TaskConfig(task="t", file="t.yaml", num_fewshot=4, fewshot_config={"fixed": fixed})


@pytest.mark.parametrize(
    ("spec", "n"), [(5, None), (0, None), (None, 0), (None, [4, 5])], ids=["name|5", "name|0", "fewshot.n=0", "a list"]
)
def test_a_fixed_number_refuses_another(spec: int | None, n: Any) -> None:
    with pytest.raises(UserError, match=r"t\.yaml: 't' has its number of examples fixed at 4 .*fewshot\.on_fixed=keep"):
        shot_counts(fixed_task(), spec, FewshotConfig(n=n))


@pytest.mark.parametrize(("spec", "n"), [(None, None), (4, 5), (None, 4), (None, [4])])
def test_its_own_number_may_be_asked(spec: int | None, n: Any) -> None:
    assert shot_count(fixed_task(), spec, FewshotConfig(n=n)) == 4


def test_a_fixed_number_is_kept_on_request_and_one_line_says_so(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        counts = shot_counts(fixed_task(), None, FewshotConfig(n=[0, 4, 5], on_fixed="keep"))
    assert counts == {0: 4, 4: 4, 5: 4}
    assert caplog.messages == ["t: its examples are fixed at 4 (fewshot.on_fixed=keep); not 0, 5."]


def test_a_task_that_is_not_fixed_takes_any_number() -> None:
    assert shot_count(fixed_task(False), 9, FewshotConfig()) == 9


def test_fixed_is_true_or_false() -> None:
    with pytest.raises(UserError, match=r"fewshot_config\.fixed='yes' must be true or false"):
        shot_counts(fixed_task("yes"), 5, FewshotConfig())


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
