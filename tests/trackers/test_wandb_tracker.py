from __future__ import annotations

import json
import logging
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from hydra_eval.config.schema import TrackerConfig
from hydra_eval.trackers import Guarded, RunFacts, build_tracker
from hydra_eval.trackers.wandb_tracker import WandbTracker, artifact_name

from .rows import choice_row, generation_row
from .wandb_reader import OfflineRun, offline_runs

pytest.importorskip("wandb")
pytestmark = pytest.mark.usefixtures("no_account")

FILES = ("results.json", "samples_capitals.jsonl", "samples_colours.jsonl")
RESULTS: dict[str, Any] = {
    "results": {
        "capitals": {
            "alias": "capitals",
            "exact_match,strict": 0.5,
            "exact_match_stderr,strict": 0.25,
            "sample_len": 4,
        },
        "colours": {"alias": "the colours", "acc,none": 1.0, "acc_stderr,none": "N/A", "sample_len": 3},
    },
    "n-shot": {"capitals": 2, "colours": 0},
    "hydra_eval": {"status": "complete", "seconds": {"model": 1.5}},
}
CAPITALS = [
    generation_row(0, filter="strict"),
    generation_row(0, filter="loose", scores={"exact_match": True}),
    generation_row(1, filter="strict", filtered_resps=(None,), scores={"exact_match": None}),
    generation_row(1, filter="loose", scores={"exact_match": False}),
    generation_row(2, filter="strict", target=["Paris", "Lutetia"], filtered_resps=(["a", "b"],)),
    generation_row(2, filter="loose", resps=((" Paris", " Rome"),)),
    generation_row(3, filter="strict", scores={"exact_match": 0, "chrf": (1, 2.5)}),
]
COLOURS = [choice_row(0), choice_row(1, target="blue"), choice_row(2, shots=(1,))]


def facts(folder: Path, **changes: Any) -> RunFacts:
    defaults: dict[str, Any] = {
        "folder": folder,
        "config": {"seed": 7, "model": {"pretrained": "tiny"}, "limit": None, "tags": ["a"]},
        "name": "capitals+colours, tiny",
        "model": "tiny",
        "tasks": ["capitals", "colours"],
    }
    return RunFacts(**defaults | changes)


def live(tracker: Any, run: RunFacts, *, exit_code: int = 0) -> None:
    """A whole life of a tracker, with the run folder's own files."""
    for name in FILES:
        (run.folder / name).write_text(f'"{name}"\n')
    tracker.start(run)
    tracker.samples("capitals", CAPITALS)
    tracker.samples("colours", COLOURS)
    tracker.results(RESULTS)
    tracker.files([run.folder / name for name in FILES])
    tracker.close(exit_code)


def warnings(caplog: Any) -> list[logging.LogRecord]:
    """What we said; W&B's own log goes to its files."""
    return [record for record in caplog.records if record.name.startswith("hydra_eval")]


def tracked(folder: Path, *, config: TrackerConfig | None = None, **changes: Any) -> OfflineRun:
    live(WandbTracker(config or TrackerConfig(mode="offline")), facts(folder, **changes))
    (run,) = offline_runs(folder)
    return run


def test_the_run_is_described_by_config_facts_and_n_shot(tmp_path: Path) -> None:
    run = tracked(tmp_path, group="sweep-1", job_type="eval", tags=["nightly"])
    assert (run.name, run.project, run.group, run.job_type) == (
        "capitals+colours, tiny",
        "hydra-eval",
        "sweep-1",
        "eval",
    )
    assert run.tags == ["nightly"]
    assert run.config["model"] == {"pretrained": "tiny"}
    assert (run.config["seed"], run.config["n-shot"]) == (7, {"capitals": 2, "colours": 0})


def test_the_trackers_own_configuration_goes_first(tmp_path: Path) -> None:
    config = TrackerConfig(mode="offline", project="p", group="g", job_type="j", name="n", tags=["b", "a"])
    run = tracked(tmp_path, config=config, group="sweep-1", job_type="eval", tags=["a", "c"])
    assert (run.name, run.project, run.group, run.job_type) == ("n", "p", "g", "j")
    assert sorted(run.tags) == ["a", "b", "c"]


def test_summary_has_one_number_per_metric(tmp_path: Path) -> None:
    summary = tracked(tmp_path).summary
    assert {name: value for name, value in summary.items() if "/" in name and not isinstance(value, dict)} == {
        "capitals/exact_match,strict": 0.5,
        "capitals/exact_match_stderr,strict": 0.25,
        "capitals/n": 4,
        "colours/acc": 1.0,
        "colours/n": 3,
        "seconds/model": 1.5,
    }
    assert summary["status"] == "complete"


@pytest.mark.parametrize(("task", "documents"), [("capitals", [0, 1, 2, 3]), ("colours", [0, 1, 2])])
def test_a_table_has_a_line_per_document(task: str, documents: list[int], tmp_path: Path) -> None:
    run = tracked(tmp_path)
    assert [line["doc_id"] for line in run.table(f"samples/{task}")] == documents
    assert run.table_artifact(f"samples/{task}") == run.table(f"samples/{task}")


def test_a_table_says_what_the_rows_say(tmp_path: Path) -> None:
    lines = tracked(tmp_path).table("samples/capitals")
    assert [line["exact_match[loose]"] for line in lines] == [1.0, 0.0, 1.0, None]
    assert [line["target"] for line in lines] == ["Paris", "Paris", '["Paris", "Lutetia"]', "Paris"]
    assert lines[3]["chrf[strict]"] == "[1, 2.5]"


@pytest.mark.parametrize("task", ["capitals", "colours"])
def test_a_column_has_one_type(task: str, tmp_path: Path) -> None:
    types = tracked(tmp_path).column_types(f"samples/{task}")
    assert {frozenset(kinds) - {"none"} for kinds in types.values()} <= {frozenset({"number"}), frozenset({"string"})}
    assert types["doc_id"] - {"none"} == {"number"}


def test_more_rows_than_wandb_shows_by_default_are_kept(tmp_path: Path) -> None:
    import wandb

    count = wandb.Table.MAX_ROWS + 1
    tracker = WandbTracker(TrackerConfig(mode="offline"))
    tracker.start(facts(tmp_path))
    tracker.samples("colours", [choice_row(doc) for doc in range(count)])
    tracker.close(0)
    assert len(offline_runs(tmp_path)[0].table("samples/colours")) == count


def test_the_files_are_one_artifact_and_a_later_change_does_not_reach_it(tmp_path: Path) -> None:
    run = tracked(tmp_path)
    (tmp_path / "results.json").write_text("changed")
    copies = run.artifact_files("evaluation")
    assert {name: path.read_text() for name, path in copies.items()} == {name: f'"{name}"\n' for name in FILES}
    assert all(path.is_relative_to(tmp_path / "wandb") for path in copies.values())
    (artifact,) = [artifact for artifact in run.artifacts if artifact.type == "evaluation"]
    assert artifact.name == "capitals-colours-tiny"
    assert json.loads(artifact.metadata) == {"model": "tiny", "tasks": ["capitals", "colours"]}


@pytest.mark.parametrize("exit_code", [0, 2])
def test_the_exit_code_is_passed_on(exit_code: int, tmp_path: Path) -> None:
    live(WandbTracker(TrackerConfig(mode="offline")), facts(tmp_path), exit_code=exit_code)
    assert offline_runs(tmp_path)[0].exit_code == exit_code


def test_jobs_of_one_process_are_runs_of_one_group(tmp_path: Path) -> None:
    folders = [tmp_path / "0", tmp_path / "1"]
    for folder in folders:
        folder.mkdir()
    runs = [tracked(folder, group="sweep-1") for folder in folders]
    assert runs[0].id != runs[1].id
    assert [run.group for run in runs] == ["sweep-1", "sweep-1"]
    assert [len(offline_runs(folder)) for folder in folders] == [1, 1]
    copies = runs[1].artifact_files("evaluation").values()
    assert all(path.is_relative_to(folders[1]) for path in copies)


def test_samples_can_be_left_out(tmp_path: Path) -> None:
    run = tracked(tmp_path, config=TrackerConfig(mode="offline", log_samples=False))
    assert (run.history, run.summary["colours/acc"]) == ([], 1.0)


def test_everything_stays_in_the_run_folder(
    tmp_path: Path, no_account: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    elsewhere, folder = tmp_path / "cwd", tmp_path / "run"
    elsewhere.mkdir()
    folder.mkdir()
    monkeypatch.chdir(elsewhere)
    tracked(folder)
    assert [*no_account.iterdir(), *elsewhere.iterdir()] == []
    assert sorted(path.name for path in folder.iterdir()) == sorted([*FILES, "wandb"])
    assert [path for path in folder.rglob("*") if path.is_symlink()] == []
    assert capfd.readouterr() == ("", "")


def test_a_run_of_the_calling_program_stays_open(tmp_path: Path) -> None:
    import wandb

    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.mkdir()
    mine = wandb.init(mode="offline", dir=str(theirs), settings=wandb.Settings(silent=True))
    tracked(ours)
    assert wandb.run is mine
    mine.log({"loss": 1.0})
    mine.finish()
    assert offline_runs(theirs)[0].history[0]["loss"] == 1.0


def test_offline_the_link_is_a_sync_command(tmp_path: Path) -> None:
    folder = tmp_path / "a folder"
    folder.mkdir()
    tracker = WandbTracker(TrackerConfig(mode="offline"))
    tracker.start(facts(folder))
    tracker.close(0)
    (run,) = offline_runs(folder)
    assert tracker.link == tracker.resync == f"wandb sync '{run.folder}'"


@pytest.mark.parametrize("how", ["config", "variable"])
def test_disabled_leaves_no_trace(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if how == "variable":
        monkeypatch.setenv("WANDB_MODE", "disabled")
    tracker = WandbTracker(TrackerConfig(mode="disabled" if how == "config" else "auto"))
    live(tracker, facts(tmp_path))
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(FILES)
    assert tracker.link is None


def test_auto_without_credentials_is_offline_and_says_nothing(tmp_path: Path, caplog: Any) -> None:
    assert tracked(tmp_path, config=TrackerConfig()).exit_code == 0
    assert warnings(caplog) == []


def test_auto_follows_wandb_mode_before_credentials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_API_KEY", "a" * 40)
    assert tracked(tmp_path, config=TrackerConfig()).exit_code == 0
    assert warnings(caplog) == []


@pytest.mark.parametrize(
    ("changes", "project"), [({}, "mine"), ({"project": "typed"}, "typed")], ids=["default", "typed"]
)
def test_wandb_project_beats_the_default_and_nothing_typed(
    changes: dict[str, str], project: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WANDB_PROJECT", "mine")
    assert tracked(tmp_path, config=TrackerConfig(mode="offline", **changes)).project == project


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


@pytest.fixture
def unreachable(no_account: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A server that does not answer, and two seconds of patience with it."""
    server = f"http://127.0.0.1:{closed_port()}"
    monkeypatch.setenv("WANDB_BASE_URL", server)
    monkeypatch.setenv("WANDB_INIT_TIMEOUT", "2")
    return server


def credentials(kind: str, *, home: Path, server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if kind == "key":
        monkeypatch.setenv("WANDB_API_KEY", "a" * 40)
    elif kind == "netrc":
        (home / ".netrc").write_text(f"machine {server.removeprefix('http://')} login user password {'a' * 40}\n")
    elif kind == "bad-key":
        monkeypatch.setenv("WANDB_API_KEY", "too-short")


@pytest.mark.parametrize(
    ("mode", "kind", "reason"),
    [
        ("auto", "key", "connection refused"),
        ("auto", "netrc", "connection refused"),
        ("online", "key", "connection refused"),
        ("online", "none", "no credentials: set WANDB_API_KEY"),
        ("auto", "bad-key", "API key"),
    ],
)
def test_what_cannot_be_online_is_kept_offline_with_one_warning(
    mode: str,
    kind: str,
    reason: str,
    unreachable: str,
    no_account: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: Any,
    capfd: Any,
) -> None:
    credentials(kind, home=no_account, server=unreachable, monkeypatch=monkeypatch)
    begin = time.monotonic()
    tracker = build_tracker(TrackerConfig(mode=mode))
    live(tracker, facts(tmp_path))
    assert time.monotonic() - begin < 60
    (run,) = offline_runs(tmp_path)
    assert run.summary["colours/acc"] == 1.0
    (record,) = warnings(caplog)
    assert record.levelno == logging.WARNING
    assert reason in record.message
    assert f"wandb sync {run.folder}" in record.message
    assert tracker.link == f"wandb sync {run.folder}"
    assert capfd.readouterr().out == ""


def test_a_failure_inside_wandb_is_one_warning_and_what_went_before_is_kept(tmp_path: Path, caplog: Any) -> None:
    tracker = Guarded(WandbTracker(TrackerConfig(mode="offline")))
    tracker.start(facts(tmp_path))
    tracker.samples("colours", COLOURS)
    tracker.files([tmp_path / "missing.json"])
    tracker.results(RESULTS)
    tracker.close(0)
    (run,) = offline_runs(tmp_path)
    assert (len(run.table("samples/colours")), run.exit_code, "colours/acc" in run.summary) == (3, 0, False)
    (record,) = warnings(caplog)
    assert "W&B failed at files (ValueError: Path is not a file" in record.message
    assert f"wandb sync {run.folder}" in record.message


def test_a_folder_that_cannot_be_written_is_one_warning(tmp_path: Path, caplog: Any) -> None:
    (tmp_path / "wandb").write_text("in the way")
    live(build_tracker(TrackerConfig(mode="offline")), facts(tmp_path))
    (record,) = warnings(caplog)
    assert "W&B failed at start" in record.message
    assert "Nothing was sent to it" in record.message


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("gsm8k|5, llama-3.1_8B", "gsm8k-5-llama-3.1_8B"),
        ("x" * 300, "x" * 128),
        ("数学", "evaluation"),
        ("", "evaluation"),
    ],
    ids=["odd-letters", "long", "no-letter-left", "empty"],
)
def test_artifact_name(name: str, safe: str) -> None:
    assert artifact_name(name) == safe
