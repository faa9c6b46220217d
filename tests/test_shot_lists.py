"""Several numbers of shots, seeds and orders of choices in one run, and by a sweep."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from hydra_eval.api import evaluate
from hydra_eval.errors import UserError
from hydra_eval.file_names import samples_name

from .program import results_in, run_program, samples_in, start
from .toy_tasks import CHOICE, write_task
from .toys import data_sets_prepared_in
from .trackers.wandb_reader import offline_runs

COUNTS, SEEDS = (0, 1, 5), (1, 2, 3)
CELLS = [f"{n}|seed={seed}" for n in COUNTS for seed in SEEDS]
LISTS = ("fewshot.n=[0,1,5]", "fewshot.seeds=[1,2,3]")
QUIET = ["model=dummy", "tracker=none"]
TELLS_LOADS = """
import sys
from dataclasses import replace
from hydra_eval.app import main
from hydra_eval.models import MODELS

def told(config, device, tokenizer, load=MODELS["hf"].model):
    sys.stderr.write("LOADED\\n")
    return load(config, device, tokenizer)

MODELS["hf"] = replace(MODELS["hf"], model=told)
main()
"""
"""The program, which says so whenever it loads a model."""


def run_telling_loads(*arguments: str, cwd: Path) -> CompletedProcess[str]:
    done = start(sys.executable, "-c", TELLS_LOADS, *arguments, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done


def prompts_in(folder: Path, cell: str) -> list[str]:
    lines = (folder / samples_name(cell)).read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["arguments"]["gen_args_0"]["arg_0"] for line in lines]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, CompletedProcess[str]]:
    """The demo's nine cells per task, on a few documents."""
    folder = tmp_path_factory.mktemp("demo")
    done = run_telling_loads("task=demo", "model=tiny", *LISTS, "limit=6", "hydra.run.dir=run", cwd=folder)
    return folder / "run", done


def test_one_run_has_nine_cells_per_task_and_loads_one_model(demo: tuple[Path, CompletedProcess[str]]) -> None:
    folder, done = demo
    assert done.stderr.count("LOADED") == 1
    shots = results_in(folder)["n-shot"]
    for task in ("demo_sums", "demo_scales", "demo_ledger"):
        assert {name: n for name, n in shots.items() if name.startswith(task)} == {
            f"{task}|{n}|seed={seed}": n for n in COUNTS for seed in SEEDS
        }


def test_mean_and_spread_of_each_count_are_shown_and_kept(demo: tuple[Path, CompletedProcess[str]]) -> None:
    folder, done = demo
    results = results_in(folder)
    families = results["hydra_eval"]["over_seeds"]
    assert list(families) == [f"{task}|{n}" for n in COUNTS for task in ("demo_sums", "demo_scales", "demo_ledger")]
    figures = families["demo_scales|5"]["metrics"]["acc,none"]
    values = [results["results"][f"demo_scales|5|seed={seed}"]["acc,none"] for seed in SEEDS]
    assert (figures["min"], figures["max"]) == (min(values), max(values))
    assert "over seeds" in done.stdout and f"{figures['mean']:.4f}   {figures['spread']:.4f}" in done.stdout
    assert results["hydra_eval"]["seeds"]["fewshot"] == list(SEEDS)
    cells = results["hydra_eval"]["cells"]
    assert cells["demo_scales|5|seed=2"] == {"task": "demo_scales", "shots": 5, "seed": 2, "order": 0}
    assert cells["demo|5|seed=2"] == {"task": "demo", "shots": 5, "seed": 2, "order": 0}


def test_the_tracker_has_the_figures_and_a_table_to_plot(demo: tuple[Path, CompletedProcess[str]]) -> None:
    folder, _ = demo
    (run,) = offline_runs(folder)
    family = results_in(folder)["hydra_eval"]["over_seeds"]["demo_scales|5"]["metrics"]["acc,none"]
    assert run.summary["over_seeds/demo_scales|5/acc/spread"] == family["spread"]
    table = run.table("cells")
    assert len(table) == 9 * 4
    assert {(row["shots"], row["seed"]) for row in table} == {(n, seed) for n in COUNTS for seed in SEEDS}


def test_seeds_change_prompts_where_there_are_examples(demo: tuple[Path, CompletedProcess[str]]) -> None:
    folder, _ = demo
    differ = {n: len({tuple(prompts_in(folder, f"demo_sums|{n}|seed={seed}")) for seed in SEEDS}) for n in COUNTS}
    assert differ == {0: 1, 1: 3, 5: 3}


def test_a_sweep_over_both_loads_one_model_and_has_the_same_prompts(
    tmp_path: Path, demo: tuple[Path, CompletedProcess[str]]
) -> None:
    done = run_telling_loads(
        "-m",
        "task=demo_sums",
        "model=tiny",
        "fewshot.n=0,1,5",
        "fewshot.seed=1,2,3",
        "limit=6",
        "tracker=none",
        cwd=tmp_path,
    )
    assert done.stderr.count("LOADED") == 1
    (sweep,) = (tmp_path / "outputs" / "multirun").iterdir()
    jobs = [json.loads(line) for line in (sweep / "sweep.jsonl").read_text().splitlines()]
    assert [job["status"] for job in jobs] == ["complete"] * 9
    for job, cell in zip(jobs, CELLS, strict=True):
        assert prompts_in(sweep / job["folder"], "demo_sums") == prompts_in(demo[0], f"demo_sums|{cell}")


def test_a_sweep_over_a_group_shows_the_scores_of_its_tasks(tmp_path: Path) -> None:
    done = run_telling_loads("-m", "task=demo", "fewshot.n=0,2", "limit=3", "tracker=none", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (sweep,) = (tmp_path / "outputs" / "multirun").iterdir()
    for line in (sweep / "sweep.jsonl").read_text().splitlines():
        job = json.loads(line)
        results = results_in(sweep / job["folder"])["results"]
        assert job["metrics"] == {
            "demo_sums/exact_match,strict-match": results["demo_sums"]["exact_match,strict-match"],
            "demo_scales/acc,none": results["demo_scales"]["acc,none"],
            "demo_ledger/exact_match,entry": results["demo_ledger"]["exact_match,entry"],
        }


@pytest.fixture
def own_three(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A task whose file says three shots, and the working folder."""
    write_task(tmp_path / "tasks", "own", 6, **CHOICE, num_fewshot=3)
    monkeypatch.setenv("HYDRA_EVAL_TASK_PATH", str(tmp_path / "tasks"))
    monkeypatch.chdir(tmp_path)
    with data_sets_prepared_in(tmp_path / "cache"):
        yield tmp_path


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (["fewshot.seed=1"], ["fewshot.seed=1"], True),
        (["fewshot.seed=1"], ["fewshot.seed=2"], False),
        (["fewshot.seed=1"], ["fewshot.seeds=[1]"], True),
        (["fewshot.seed=1"], ["fewshot.seed=1", "fewshot.n=3"], True),
        (["seed=1"], ["seed=2"], False),
        (["seed=1"], ["seed=2", "fewshot.seed=1"], True),
    ],
    ids=["again", "another seed", "a list of one", "three said again", "another run seed", "the examples' seed"],
)
def test_the_seed_of_examples_counts_where_the_task_file_has_the_number(
    own_three: Path, first: list[str], second: list[str], same: bool
) -> None:
    runs = [evaluate(["own"], [*QUIET, *changes], folder=f"run{run}") for run, changes in enumerate((first, second))]
    assert [run["n-shot"]["own"] for run in runs] == [3, 3]
    assert (prompts_in(own_three / "run0", "own") == prompts_in(own_three / "run1", "own")) is same


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ([], 1234),
        (["seed=7"], 7),
        (["seed=7", "fewshot.seed=8"], 8),
        (["fewshot.seeds=[8]"], 8),
        (["fewshot.seeds=[8,9]"], [8, 9]),
    ],
    ids=["default", "the run's", "its own", "a list of one", "several"],
)
def test_all_seeds_in_force_are_in_the_results(own_three: Path, changes: list[str], told: Any) -> None:
    results = evaluate(["own"], [*QUIET, *changes], folder="run")
    assert results["hydra_eval"]["seeds"]["fewshot"] == results["config"]["fewshot_seed"] == told
    assert [cell["seed"] for cell in results["hydra_eval"]["fewshot"].values()] == (
        told if isinstance(told, list) else [told]
    )


def test_a_fixed_number_is_told_before_the_run(own_three: Path) -> None:
    fixed = "tasks.own.fewshot_config={fixed: true}"
    with pytest.raises(UserError, match=r"own.yaml: 'own' has its number of examples fixed at 3"):
        evaluate(["own"], [*QUIET, fixed, "fewshot.n=[3,5]"])
    results = evaluate(["own|5"], [*QUIET, fixed, "fewshot.on_fixed=keep"], folder="run")
    assert results["n-shot"] == {"own": 3}
    assert results["configs"]["own"]["fewshot_config"]["fixed"] is True


@pytest.mark.multiprocess
def test_cells_do_not_depend_on_the_number_of_processes(tmp_path: Path) -> None:
    what = (
        "task=demo",
        "model=tiny",
        *LISTS,
        "prompt.choice_orders=2",
        "prompt.formulation=mcf",
        "limit=4",
        "tracker=none",
    )
    for processes, folder in ((1, "one"), (2, "two")):
        done = run_program(*what, f"hydra.run.dir={folder}", processes=processes, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    one, two = tmp_path / "one", tmp_path / "two"
    assert samples_in(one) == samples_in(two)
    assert len(samples_in(one)) == 9 + 18 + 9
    for section in ("over_seeds", "over_orders"):
        assert results_in(one)["hydra_eval"][section] == results_in(two)["hydra_eval"][section]
