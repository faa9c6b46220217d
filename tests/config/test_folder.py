from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import pytest
import yaml

from hydra_eval.config import folder as folder_module
from hydra_eval.config.folder import (
    DRY_RUN,
    RESULTS,
    RunFolder,
    compared,
    is_complete,
    job_folder_name,
    named_folder,
    new_folder,
    pick_folder,
    run_slug,
    slug,
)
from hydra_eval.errors import UserError

NOW = datetime(2026, 3, 1, 12, 30, 15)
COMMAND = ["task=gsm8k", "model=llama3"]


def pick(root: Path, overrides: Sequence[str], *, later: int = 0, resume: bool = True) -> RunFolder:
    """The folder of a command `later` seconds on."""
    return pick_folder(root, overrides, resume=resume, now=NOW + timedelta(seconds=later))


def started(root: Path, overrides: Sequence[str] = COMMAND, *, later: int = 0) -> Path:
    """A run that began, wrote what Hydra writes, and was killed."""
    path = pick(root, overrides, later=later, resume=False).path
    (path / ".hydra").mkdir()
    (path / ".hydra" / "overrides.yaml").write_text(yaml.safe_dump(list(overrides)), encoding="utf-8")
    return path


def finish(path: Path, status: str = "complete") -> None:
    (path / RESULTS).write_text(json.dumps({"hydra_eval": {"status": status}}), encoding="utf-8")


def test_a_new_folder_is_named_after_time_task_and_model(tmp_path: Path) -> None:
    assert pick(tmp_path, COMMAND).path == tmp_path / "2026-03-01" / "12-30-15-gsm8k-llama3"


def test_the_same_command_goes_on_in_its_unfinished_folder(tmp_path: Path) -> None:
    assert pick(tmp_path, COMMAND, later=5).path != started(tmp_path, ["task=other"])
    left = started(tmp_path)
    assert pick(tmp_path, COMMAND, later=90_000).path == left


def test_of_several_unfinished_folders_the_newest_goes_on(tmp_path: Path) -> None:
    folders = [started(tmp_path, later=later) for later in (0, 5, 100_000, 50)]
    assert pick(tmp_path, COMMAND, later=200_000).path == folders[2]


def test_a_folder_without_a_record_of_its_command_is_left_alone(tmp_path: Path) -> None:
    bare = pick(tmp_path, COMMAND).path
    assert pick(tmp_path, COMMAND, later=1).path != bare


@pytest.mark.parametrize(
    "text", ["{", "", "[]", "null", '{"hydra_eval": null}', '{"hydra_eval": {"status": "failed"}}']
)
def test_results_that_are_not_those_of_a_finished_run(tmp_path: Path, text: str) -> None:
    path = started(tmp_path)
    (path / RESULTS).write_text(text, encoding="utf-8")
    assert not is_complete(path)
    assert pick(tmp_path, COMMAND, later=1).path == path


def test_a_finished_folder_is_never_used_again(tmp_path: Path) -> None:
    finish(path := started(tmp_path))
    assert is_complete(path)
    assert pick(tmp_path, COMMAND, later=1).path != path


def test_a_run_that_ends_while_its_folder_is_looked_at_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = started(tmp_path)

    def lock_a_moment_later(folder: Path) -> RunFolder | None:
        if folder == path:
            finish(path)
        return try_lock(folder)

    try_lock = folder_module._try_lock
    monkeypatch.setattr(folder_module, "_try_lock", lock_a_moment_later)
    assert pick(tmp_path, COMMAND, later=1).path != path


def test_resume_never_makes_a_new_folder(tmp_path: Path) -> None:
    path = started(tmp_path)
    assert pick(tmp_path, COMMAND, later=1, resume=False).path != path


def test_a_folder_that_a_live_run_holds_is_not_taken(tmp_path: Path) -> None:
    path = started(tmp_path)
    held = pick(tmp_path, COMMAND, later=1)
    assert held.path == path
    assert pick(tmp_path, COMMAND, later=2).path != path


def test_the_lock_ends_with_its_holder(tmp_path: Path) -> None:
    started(tmp_path)
    held = pick(tmp_path, COMMAND, later=1)
    path = held.path
    del held
    assert pick(tmp_path, COMMAND, later=2).path == path


def test_runs_of_one_second_get_folders_of_their_own(tmp_path: Path) -> None:
    held = [pick(tmp_path, COMMAND) for _ in range(3)]
    assert [folder.path.name for folder in held] == [
        "12-30-15-gsm8k-llama3",
        "12-30-15-gsm8k-llama3-2",
        "12-30-15-gsm8k-llama3-3",
    ]


@pytest.mark.parametrize(
    "extra",
    ["tracker=none", "tracker.mode=offline", "+tracker.x=1", "resume=auto", "hydra.verbose=true", "hydra/help=x"],
)
def test_what_changes_nothing_in_the_results_is_not_compared(tmp_path: Path, extra: str) -> None:
    path = started(tmp_path, [*COMMAND, "tracker=wandb"])
    assert pick(tmp_path, [extra, *COMMAND], later=1).path == path


@pytest.mark.parametrize(
    "overrides",
    [
        ["task=gsm8k", "model=qwen3"],
        ["task=gsm8k"],
        [*COMMAND, "limit=3"],
        [*COMMAND, "+model.kwargs.x=1"],
        [*COMMAND, "seed=1"],
    ],
)
def test_another_command_gets_another_folder(tmp_path: Path, overrides: list[str]) -> None:
    path = started(tmp_path)
    assert pick(tmp_path, overrides, later=1).path != path


def test_the_last_of_two_values_counts_in_hydra_so_their_order_is_compared() -> None:
    assert compared(["seed=1", "seed=2"]) != compared(["seed=2", "seed=1"])


def test_a_named_folder_is_made_and_held(tmp_path: Path) -> None:
    held = named_folder(tmp_path / "deep" / "mine")
    assert held.path.is_dir()
    with pytest.raises(UserError, match=r"hydra.run.dir=\S*mine is in use by a run that is still going"):
        named_folder(tmp_path / "deep" / "mine")


def test_a_named_folder_with_a_killed_run_goes_on(tmp_path: Path) -> None:
    path = started(tmp_path)
    assert named_folder(path).path == path


def test_a_named_folder_with_a_finished_run_is_refused_and_left_as_it_was(tmp_path: Path) -> None:
    finish(path := started(tmp_path))
    before = (path / RESULTS).read_bytes()
    with pytest.raises(UserError, match=r"holds a finished run\. Name another folder"):
        named_folder(path)
    assert (path / RESULTS).read_bytes() == before


def test_a_named_folder_that_is_a_file_is_a_user_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(UserError, match=r"file cannot be used: .*\. Name another folder"):
        named_folder(tmp_path / "file")


def test_a_new_folder_next_to_one_that_is_taken(tmp_path: Path) -> None:
    (tmp_path / "sweep").mkdir()
    assert new_folder(tmp_path / "sweep").path == tmp_path / "sweep-2"


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        ([], "demo-tiny"),
        (["task=gsm8k", "model=llama3"], "gsm8k-llama3"),
        (["task=[gsm8k|5,arc_easy]", "model=tiny"], "gsm8k_5_arc_easy-tiny"),
        (["model=hf", "model.pretrained=org/My-Model/"], "demo-My_Model"),
        (["model=hf", "model.pretrained=/data/ckpt 7", "model.name=mine"], "demo-mine"),
        (["task=a", "task=b"], "b-tiny"),
        (["task=" + "x" * 100], "x" * 80),
        (["task=日本", "--help"], "run-tiny"),
    ],
)
def test_run_slugs(overrides: list[str], expected: str) -> None:
    assert run_slug(overrides) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("a,b=1", "a_b=1"), ("../up", ".._up"), ("", "run"), ("a  b/c", "a_b_c"), ("v1.2", "v1.2")]
)
def test_slugs_are_fit_for_a_folder_name(text: str, expected: str) -> None:
    assert slug(text) == expected


@pytest.fixture
def long_names() -> Iterator[list[str]]:
    yield [job_folder_name(7, f"task={'long_' * 30},seed={seed}") for seed in (1, 2)]


def test_jobs_with_long_overrides_keep_apart_by_their_hash(long_names: list[str]) -> None:
    assert len(set(long_names)) == 2
    assert all(name.startswith("07-task=long_long_") and len(name) <= 3 + 80 + 9 for name in long_names)


def test_a_jobs_name_depends_on_number_and_overrides_alone() -> None:
    assert job_folder_name(3, "fewshot.n=5,seed=1") == job_folder_name(3, "fewshot.n=5,seed=1")
    assert job_folder_name(3, "fewshot.n=5,seed=1").startswith("03-fewshot.n=5_seed=1-")


def test_a_dry_run_is_never_gone_on_with(tmp_path: Path) -> None:
    path = started(tmp_path, [*COMMAND, "dry_run=true"])
    assert pick(tmp_path, COMMAND, later=1).path != path
    (path / DRY_RUN).write_text("{}", encoding="utf-8")
    assert pick(tmp_path, [*COMMAND, "dry_run=true"], later=2).path != path
