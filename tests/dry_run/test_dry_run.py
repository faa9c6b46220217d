"""A dry run beside the run itself."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hydra_eval.api import evaluate
from hydra_eval.errors import UserError
from hydra_eval.models import MODELS
from tests.models.building import save_tiny
from tests.program import run_alone, run_program
from tests.toy_tasks import GENERATION, write_task
from tests.toys import data_sets_prepared_in

DRY = ["dry_run=true", "model=dummy"]
FOUND = "hydra.searchpath=[tasks://tasks]"
"""For a process of its own."""
SPECS = ("choice|2", "reply|1", "read", "said|3")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The working folder, with a task of each kind that `task=` knows."""
    tasks = tmp_path / "tasks"
    write_task(tasks, "choice", 6)
    write_task(tasks, "reply", 5, **GENERATION, repeats=2)
    write_task(tasks, "read", 3, output_type="loglikelihood_rolling", doc_to_text="", doc_to_target="{{question}}" * 9)
    likelihood = {
        "output_type": "loglikelihood",
        "doc_to_text": "{{question}}",
        "doc_to_target": " {{choices[answer]}}",
    }
    write_task(tasks, "said", 4, **likelihood)
    monkeypatch.setenv("HYDRA_EVAL_TASK_PATH", str(tasks))
    monkeypatch.chdir(tmp_path)
    with data_sets_prepared_in(tmp_path / "cache"):
        yield tmp_path


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("tiny"), adds_bos=True)


def rows_of(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Task → the lines of its samples file."""
    return {
        path.stem.removeprefix("samples_"): [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for path in folder.glob("samples_*.jsonl")
    }


def tokens(rows: Sequence[Mapping[str, Any]], name: str) -> int:
    return sum(sum(row[name]) for row in rows)


@pytest.mark.parametrize(
    "overrides",
    [
        [],
        ["model.max_length=60"],
        ["model.max_length=60", "prompt.overflow=cut_middle"],
        ["model.max_length=60", "prompt.overflow=[drop_shots,skip]"],
        ["prompt.chat_template=true", "prompt.system=Be brief."],
        ["model.pair_tokenization=separate", "generation.n=3", "generation.do_sample=true", "generation.temperature=1"],
    ],
    ids=["whole", "cut", "cut in the middle", "fewer examples", "chat", "separate and sampled"],
)
def test_counts_are_those_of_the_run(folder: Path, tiny: Path, overrides: list[str]) -> None:
    given = ["model=hf", f"model.pretrained={tiny}", "tracker=none", *overrides]
    dry = evaluate(SPECS, [*given, "dry_run=true"], folder="dry")
    done = evaluate(SPECS, given, folder="run")
    rows = rows_of(folder / "run")
    assert dry["tasks"].keys() == rows.keys()
    for name, told in dry["tasks"].items():
        of_task = rows[name]
        assert told["rows"] == len(of_task)
        assert told["requests"] == sum(len(row["input_tokens"]) for row in of_task)
        assert told["prompt_tokens"] == tokens(of_task, "input_tokens")
        assert told["cut_tokens"] == tokens(of_task, "cut_tokens")
        assert told["overflow"] == done["hydra_eval"]["overflow"][name]
        assert told["fewshot"] == done["hydra_eval"]["fewshot"][name]
        generated = tokens(of_task, "output_tokens") if name == "reply" else 0
        assert told["scored_tokens"] == tokens(of_task, "output_tokens") - generated
        assert (generated > 0) == (told["reply_tokens"] > 0) and generated <= told["reply_tokens"]
    assert any(told["overflow"]["documents"] for told in dry["tasks"].values()) == ("model.max_length=60" in overrides)


def test_the_longest_request_is_measured_before_anything_is_done_about_it(folder: Path, tiny: Path) -> None:
    given = ["model=hf", f"model.pretrained={tiny}", "dry_run=true", "model.max_length=60"]
    cut, dropped, left_out = (
        evaluate(SPECS, [*given, f"prompt.overflow={policy}"], folder=f"dry{place}")["tasks"]
        for place, policy in enumerate(("cut_left", "[drop_shots,cut_left]", "[drop_shots,skip]"))
    )
    assert [task["longest"] for task in dropped.values()] == [task["longest"] for task in cut.values()]
    assert max(task["longest"] for task in cut.values()) > 60
    assert [task["longest"] for task in left_out.values()] == [task["longest"] for task in cut.values()]


def test_the_first_prompt_is_what_the_model_gets(folder: Path, tiny: Path) -> None:
    given = ["model=hf", f"model.pretrained={tiny}", "tracker=none", "log_token_ids=true", "model.max_length=60"]
    dry = evaluate(SPECS, [*given, "dry_run=true"], folder="dry")
    evaluate(SPECS, given, folder="run")
    rows = rows_of(folder / "run")
    for name, told in dry["tasks"].items():
        first, row = told["first"], rows[name][0]
        asked = first["requests"][0]
        assert (first["doc_id"], [place for _, place in first["shots"]]) == (row["doc_id"], row["shots"])
        assert asked["prompt_ids"] + asked["scored_ids"] == row["input_ids"][0]
        assert asked["prompt"] == ("" if name == "read" else row["arguments"]["gen_args_0"]["arg_0"])


def test_shared_beginnings_are_counted_once(tiny: Path) -> None:
    what = ["model=hf", f"model.pretrained={tiny}", "dry_run=true", "fewshot_strategy=first_n"]
    told = evaluate(["choice|3"], what)["total"]
    # Every request is the same three examples, its question, and at most a few tokens of its choice.
    alone = evaluate(["choice|0"], what)["total"]
    examples = (told["run_tokens"] - alone["run_tokens"]) // told["requests"]
    assert told["shared_tokens"] == alone["shared_tokens"] + examples
    assert told["saved"] == round(1 - told["shared_tokens"] / told["run_tokens"], 4)


def test_of_several_tasks_the_total_shares_across_them(folder: Path, tiny: Path) -> None:
    write_task(folder / "tasks", "again", 6)
    told = evaluate(["choice", "again"], ["model=hf", f"model.pretrained={tiny}", "dry_run=true"])
    first, second = (told["tasks"][name] for name in ("choice", "again"))
    assert told["total"]["shared_tokens"] == first["shared_tokens"] == second["shared_tokens"]
    assert told["total"]["run_tokens"] == 2 * first["run_tokens"]


def test_no_weights_are_loaded_and_nothing_is_started(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def load(*arguments: Any) -> Any:
        raise AssertionError("the model was loaded")

    monkeypatch.setitem(MODELS, "dummy", replace(MODELS["dummy"], model=load))
    told = evaluate(["choice"], DRY, folder="dry")
    assert told == json.loads((folder / "dry" / "dry_run.json").read_text(encoding="utf-8"))
    assert {path.name for path in (folder / "dry").iterdir()} <= {"dry_run.json", ".lock"}
    with pytest.raises(Exception, match="the model was loaded"):
        evaluate(["choice"], ["model=dummy", "tracker=none"])


def test_what_would_stop_the_run_stops_the_dry_run() -> None:
    with pytest.raises(UserError, match="6 examples"):
        evaluate(["choice|6"], DRY)
    with pytest.raises(UserError, match=r"prompt\.overflow"):
        evaluate(["choice|5"], [*DRY, "model.max_length=8", "prompt.overflow=error"])


def test_options_without_effect_are_listed() -> None:
    told = evaluate(["choice"], [*DRY, "fewshot.seed=3", "model.batch_size=2"])
    assert [line.partition(":")[0] for line in told["without_effect"]] == ["fewshot.seed", "model.batch_size"]


def test_a_dry_run_of_the_program_shows_everything_and_leaves_its_own_folder(folder: Path) -> None:
    what = ("task=choice", "fewshot.n=2", "model=dummy", "generation.n=2", FOUND)
    dry = run_alone(*what, "dry_run=true", cwd=folder)
    assert dry.returncode == 0, dry.stderr
    for shown in ("longest", "To run: ", "2 examples: train ", "test·0:·word0?", "⟦", "No effect: generation.n: "):
        assert shown in dry.stdout
    (left,) = (folder / "outputs").glob("*/*")
    assert {path.name for path in left.iterdir()} == {".hydra", ".lock", "run.log", "dry_run.json"}
    real = run_alone(*what, "tracker=none", cwd=folder)
    assert real.returncode == 0 and "No effect: generation.n: no task generates text." in real.stderr
    assert [path.name for path in left.parent.iterdir() if (path / "results.json").exists()] != [left.name]
    assert run_alone(*what, "dry_run=true", cwd=folder).returncode == 0
    assert len(list((folder / "outputs").glob("*/*"))) == 3


@pytest.mark.multiprocess
def test_on_two_processes_the_main_one_tells_the_same(folder: Path) -> None:
    what = ("task=[choice,reply,read]", *DRY, FOUND)
    two = run_program(*what, "hydra.run.dir=two", processes=2, cwd=folder)
    assert two.returncode == 0, two.stderr
    assert two.stdout.count("To run: ") == 1
    assert run_alone(*what, "hydra.run.dir=one", cwd=folder).returncode == 0
    one, other = ((folder / name / "dry_run.json").read_bytes() for name in ("one", "two"))
    assert one == other


def test_each_job_of_a_sweep_is_shown(folder: Path) -> None:
    done = run_alone("-m", "task=choice", "fewshot.n=0,2", *DRY, FOUND, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("To run: ") == 2
    (sweep,) = (folder / "outputs" / "multirun").iterdir()
    jobs = [json.loads(line) for line in (sweep / "sweep.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [job["status"] for job in jobs] == ["dry run", "dry run"]
    assert all((sweep / job["folder"] / "dry_run.json").exists() for job in jobs)
