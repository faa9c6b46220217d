"""The real program, started as a user starts it."""

from __future__ import annotations

import json
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.program import ROOT, results_in, run_alone, run_program, samples_in
from tests.toy_tasks import CHOICE, GENERATION, write_task
from tests.trackers.wandb_reader import offline_runs

DUMMY = ("model=dummy", "tracker=none")
SPLIT = ("model=dummy", "model.batch_tokens=1")
"""Each document a packet of its own, so that every process has some."""


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    """A task folder with a choice task of 7 documents, one of 2, and a generation task of 5."""
    folder = tmp_path / "tasks"
    write_task(folder, "seven", 7)
    write_task(folder, "two", 2)
    write_task(folder, "five", 5, **GENERATION)
    return folder


def same_files(first: CompletedProcess[str], second: CompletedProcess[str], folders: tuple[Path, Path]) -> list[str]:
    """Names of the samples files that two finished runs left byte-equal; their scores must be equal too."""
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    ours, theirs = map(samples_in, folders)
    assert ours == theirs
    assert results_in(folders[0])["results"] == results_in(folders[1])["results"]
    return list(ours)


@pytest.mark.multiprocess
@pytest.mark.parametrize(
    ("what", "processes", "files"),
    [
        pytest.param(("task=[seven,two,five]", "fewshot.n=2", *SPLIT), 2, 3, id="two processes"),
        pytest.param(("task=[seven,two,five]", "fewshot.n=2", *SPLIT), 3, 3, id="three processes"),
        pytest.param(("task=two", *SPLIT), 3, 1, id="three processes for two documents"),
        pytest.param(("task=demo", "limit=24"), 2, 3, id="demo"),
    ],
)
def test_samples_do_not_depend_on_the_number_of_processes(
    tmp_path: Path, tasks: Path, what: tuple[str, ...], processes: int, files: int
) -> None:
    common = (*what, "tracker=none", f"hydra.searchpath=[tasks://{tasks}]")
    one = run_program(*common, "hydra.run.dir=one", cwd=tmp_path)
    many = run_program(*common, "hydra.run.dir=many", processes=processes, cwd=tmp_path)
    assert len(same_files(one, many, (tmp_path / "one", tmp_path / "many"))) == files


@pytest.mark.multiprocess
def test_samples_are_the_same_without_a_launcher(tmp_path: Path) -> None:
    what = ("task=demo_scales", "limit=60", "tracker=none")
    alone = run_alone(*what, "hydra.run.dir=alone", cwd=tmp_path)
    launched = run_program(*what, "hydra.run.dir=launched", cwd=tmp_path)
    found = same_files(alone, launched, (tmp_path / "alone", tmp_path / "launched"))
    assert found == ["samples_demo_scales.jsonl"]


def test_a_run_leaves_what_the_readme_says(tmp_path: Path, tasks: Path) -> None:
    done = run_alone("task=seven", f"hydra.searchpath=[tasks://{tasks}]", "model=dummy", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (folder,) = (tmp_path / "outputs").glob("*/*")
    assert folder.name.endswith("-seven-dummy")
    assert {path.name for path in folder.iterdir()} >= {
        ".hydra",
        "run.log",
        "results.json",
        "samples_seven.jsonl",
        "wandb",
    }
    assert "acc" in done.stdout and "wandb sync" in done.stdout


def test_the_wandb_run_holds_summary_and_one_table_row_per_document(tmp_path: Path, tasks: Path) -> None:
    done = run_alone("task=[seven,five]", f"hydra.searchpath=[tasks://{tasks}]", "model=dummy", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (folder,) = (tmp_path / "outputs").glob("*/*")
    (run,) = offline_runs(folder)
    scores = results_in(folder)["results"]
    assert run.summary["seven/acc"] == scores["seven"]["acc,none"]
    assert run.summary["five/exact_match"] == scores["five"]["exact_match,none"]
    assert [len(run.table(f"samples/{name}")) for name in ("seven", "five")] == [7, 5]


@pytest.mark.multiprocess
def test_a_sweep_in_step_on_two_processes(tmp_path: Path, tasks: Path) -> None:
    done = run_program(
        "-m", "task=five", "fewshot.n=0,2", "seed=1,2", f"hydra.searchpath=[tasks://{tasks}]", "model=dummy",
        processes=2, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (sweep,) = (tmp_path / "outputs" / "multirun").iterdir()
    jobs = [json.loads(line) for line in (sweep / "sweep.jsonl").read_text().splitlines()]
    assert [job["status"] for job in jobs] == ["complete"] * 4
    runs = [run for job in jobs for run in offline_runs(sweep / job["folder"])]
    assert {run.group for run in runs} == {sweep.name}
    assert len({run.id for run in runs}) == 4
    shots = [results_in(sweep / job["folder"])["n-shot"]["five"] for job in jobs]
    assert shots == [0, 0, 2, 2]


@pytest.mark.multiprocess
def test_a_rank_that_fails_in_one_job_leaves_the_other_jobs_whole(tmp_path: Path, tasks: Path) -> None:
    (tasks / "utils.py").write_text(
        "import os\n\ndef fail_on_rank_1(doc, results):\n"
        "    if os.environ.get('RANK') == '1':\n        raise ValueError('no such luck')\n"
        "    return {'acc': 1.0}\n"
    )
    broken = write_task(tasks, "broken", 6, **CHOICE)
    broken.write_text(broken.read_text() + "process_results: !function utils.fail_on_rank_1\n")
    done = run_program(
        "-m",
        "task=seven,broken,two,five",
        f"hydra.searchpath=[tasks://{tasks}]",
        *DUMMY,
        *SPLIT,
        processes=2,
        cwd=tmp_path,
    )
    assert done.returncode != 0
    (sweep,) = (tmp_path / "outputs" / "multirun").iterdir()
    jobs = [json.loads(line) for line in (sweep / "sweep.jsonl").read_text().splitlines()]
    assert [job["status"] for job in jobs] == ["complete", "failed", "complete", "complete"]
    assert "rank 1" in jobs[1]["error"] and "no such luck" in jobs[1]["error"] and "broken" in jobs[1]["error"]
    rows = {job["folder"]: samples_in(sweep / job["folder"]) for job in jobs}
    assert [len(b"".join(files.values()).splitlines()) for files in rows.values()] == [7, 0, 2, 5]


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        pytest.param(["task=sevn"], ["unknown task 'sevn'", "'seven'"], id="no such task"),
        pytest.param(["task=seven", "model=llama4"], ["model=llama4", "'llama3'"], id="no such model"),
        pytest.param(["task=seven", "modle=hf"], ["'modle'", "'model'"], id="misspelt key"),
        pytest.param(["task=seven", "+model.batchsize=3"], ["'model.batchsize'", "'batch_size'"], id="misspelt with +"),
        pytest.param(["task=seven", "tasks.seven.num_fewshots=3"], ["num_fewshots", "'num_fewshot'"], id="task key"),
        pytest.param(
            ["task=seven", "+tasks.seven.descripton=x"], ["descripton", "'description'"], id="task key with +"
        ),
        pytest.param(["task=seven", "+metrics.acc_nrm={}"], ["acc_nrm", "'acc_norm'"], id="unknown metric"),
        pytest.param(
            ["task=seven", "+filters.x=[{function:regexx}]"], ["filter 'regexx'", "'regex'"], id="unknown filter"
        ),
        pytest.param(
            ["task=seven", "+filters.x=[{function:regex,pattern:a}]"], ["pattern", "regex_pattern"], id="filter option"
        ),
        pytest.param(
            ["task=seven", "tasks.seven.doc_to_text='{{qestion}}'"],
            ["'qestion'", "'question'", "document 0"],
            id="column",
        ),
        pytest.param(["task=seven", "fewshot.n=6"], ["6 examples", "5 rows", "fewshot.n"], id="pool too small"),
        pytest.param(
            ["task=seven", "tasks.seven.process_docs='!function nofile.f'"],
            ["nofile.py", "does not exist"],
            id="no hook file",
        ),
        pytest.param(["task=seven", "model=hf", "model.pretrained=./nowhere"], ["./nowhere"], id="no model folder"),
        pytest.param(["task=seven", "limit=0"], ["limit=0", "from 1"], id="limit"),
    ],
)
def test_bad_input_is_one_clear_error(tmp_path: Path, tasks: Path, arguments: list[str], wanted: list[str]) -> None:
    chosen = arguments if any(given.startswith("model=") for given in arguments) else [*arguments, "model=dummy"]
    done = run_alone(*chosen, "tracker=none", f"hydra.searchpath=[tasks://{tasks}]", cwd=tmp_path)
    assert done.returncode == 1
    assert [part for part in wanted if part not in done.stderr] == []
    assert "Traceback" not in done.stderr
    assert done.stderr.count(wanted[0]) >= 1 and done.stderr.count("hydra-eval: error:") == 1


@pytest.mark.multiprocess
@pytest.mark.parametrize("arguments", [["task=sevn"], ["task=seven", "fewshot.n=6"]], ids=["composing", "building"])
def test_an_error_on_two_processes_is_printed_once(tmp_path: Path, tasks: Path, arguments: list[str]) -> None:
    done = run_program(*arguments, *DUMMY, f"hydra.searchpath=[tasks://{tasks}]", processes=2, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.count("hydra-eval: error:") == 1


def test_a_world_that_the_launcher_did_not_make_is_refused(tmp_path: Path) -> None:
    done = run_alone("task=demo", *DUMMY, cwd=tmp_path, WORLD_SIZE="2")
    assert done.returncode == 1
    assert "WORLD_SIZE=2" in done.stderr and "accelerate launch --multi_gpu" in done.stderr
    assert "Traceback" not in done.stderr and not (tmp_path / "outputs").exists()


def test_a_finished_folder_is_not_written_again(tmp_path: Path, tasks: Path) -> None:
    what = ("task=two", f"hydra.searchpath=[tasks://{tasks}]", *DUMMY, "hydra.run.dir=fixed")
    assert run_alone(*what, cwd=tmp_path).returncode == 0
    before = (tmp_path / "fixed" / "results.json").read_bytes()
    again = run_alone(*what, cwd=tmp_path)
    assert again.returncode == 1 and "holds a finished run" in again.stderr
    assert (tmp_path / "fixed" / "results.json").read_bytes() == before


def test_help_names_every_group(tmp_path: Path) -> None:
    done = run_alone("--help", cwd=tmp_path)
    assert done.returncode == 0
    for group in ("task:", "model:", "fewshot_strategy:", "filters:", "metrics:", "tracker:"):
        assert group in done.stdout
    assert not (tmp_path / "outputs").exists()


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("task=lambada_o", ["task=lambada_openai"]),
        ("task=[lambada_o", ["task=[lambada_openai"]),
        ("task=[demo,piqa,lambada_o", ["task=[demo,piqa,lambada_openai"]),
    ],
)
def test_tab_completes_task_names(tmp_path: Path, typed: str, completed: list[str]) -> None:
    line = f"python {ROOT / 'run.py'} {typed}"
    done = run_alone("-sc", "query=bash", cwd=tmp_path, COMP_LINE=line, COMP_POINT=str(len(line)))
    assert done.stdout.split() == completed
