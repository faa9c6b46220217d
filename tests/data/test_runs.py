"""Data in real runs: read once on a machine, chosen from the command line, and told in the results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.program import results_in, run_alone, run_program, samples_in
from tests.toy_tasks import CHOICE, write_task

DUMMY = ("model=dummy", "tracker=none")
WATCHER = """
import json, os, sys

def watch(event, arguments):
    if event == "open" and str(arguments[0]).endswith("_test.jsonl"):
        with open(os.environ["WATCHED"], "a") as log:
            log.write(json.dumps(os.environ.get("RANK", "alone")) + "\\n")

sys.addaudithook(watch)
"""


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    write_task(tmp_path / "tasks", "seven", 7)
    write_task(tmp_path / "tasks", "two", 2)
    return tmp_path / "tasks"


def run(folder: Path, name: str, *overrides: str, processes: int = 1, **environment: str) -> Any:
    """A finished run of the two tasks in `folder/name`."""
    common = (*DUMMY, f"hydra.searchpath=[tasks://{folder / 'tasks'}]", f"hydra.run.dir={name}", *overrides)
    environment = {"HF_DATASETS_CACHE": str(folder / "prepared"), **environment}
    if processes == 1:
        return run_alone(*common, cwd=folder, **environment)
    return run_program(*common, cwd=folder, processes=processes, **environment)


@pytest.mark.multiprocess
def test_one_process_of_a_machine_reads_the_data_for_all(tmp_path: Path, tasks: Path) -> None:
    (tmp_path / "watch").mkdir()
    (tmp_path / "watch" / "sitecustomize.py").write_text(WATCHER, encoding="utf-8")
    watched = {"PYTHONPATH": str(tmp_path / "watch"), "WATCHED": str(tmp_path / "watched")}
    many = run(tmp_path, "many", "task=[seven,two]", "fewshot.n=2", processes=2, **watched)
    assert many.returncode == 0, many.stderr
    assert {json.loads(line) for line in (tmp_path / "watched").read_text().splitlines()} == {"0"}
    one = run(tmp_path, "one", "task=[seven,two]", "fewshot.n=2")
    assert one.returncode == 0, one.stderr
    assert samples_in(tmp_path / "one") == samples_in(tmp_path / "many")


@pytest.mark.multiprocess
def test_rows_that_differ_between_processes_are_refused(tmp_path: Path, tasks: Path) -> None:
    hook = "import os\n\n\ndef own(dataset):\n    return [{**row, 'rank': os.environ['RANK']} for row in dataset]\n"
    (tasks / "utils.py").write_text(hook, encoding="utf-8")
    write_task(tasks, "odd", 3, **CHOICE, process_docs="!function utils.own")
    done = run(tmp_path, "odd", "task=odd", processes=2)
    assert done.returncode == 1
    assert "odd.yaml: 'odd' has other rows in each process" in done.stderr


@pytest.mark.multiprocess
def test_examples_that_differ_between_processes_are_refused(tmp_path: Path, tasks: Path) -> None:
    picks = "import os\n\n\ndef by_rank(pool, doc, n, seed):\n    return [int(os.environ['RANK'])]\n"
    (tmp_path / "my_picks.py").write_text(picks, encoding="utf-8")
    chosen = ("fewshot.strategy=my_picks:by_rank", "fewshot.n=1")
    done = run(tmp_path, "odd", "task=seven", *chosen, processes=2, PYTHONPATH=str(tmp_path))
    assert done.returncode == 1
    assert "'seven' has other prompts in each process. A strategy, hook or list of examples of yours" in done.stderr
    assert not list((tmp_path / "odd").glob("samples_*"))


def test_a_subset_is_saved_and_taken_by_another_run(tmp_path: Path, tasks: Path) -> None:
    first = run(tmp_path, "first", "task=[seven,two]", "subset.n=3", "subset.seed=1", "subset.stratify=answer")
    assert first.returncode == 0, first.stderr
    ids = json.loads((tmp_path / "first" / "sample_ids.json").read_text(encoding="utf-8"))
    assert {task: len(numbers) for task, numbers in ids.items()} == {"seven": 3, "two": 2}
    again = run(tmp_path, "again", "task=[seven,two]", "sample_ids=first/sample_ids.json")
    assert again.returncode == 0, again.stderr
    assert samples_in(tmp_path / "first") == samples_in(tmp_path / "again")


def test_the_results_tell_where_documents_came_from_and_how_many_are_left(tmp_path: Path, tasks: Path) -> None:
    done = run(tmp_path, "run", "task=[seven,two]", "limit={seven: 3}", "fewshot.n=1")
    assert done.returncode == 0, done.stderr
    results = results_in(tmp_path / "run")
    facts = results["hydra_eval"]["data"]["seven"]
    assert (facts["source"], facts["documents"], facts["evaluated"], facts["chosen_by"]) == ("local", 7, 3, "limit")
    assert facts["splits"] == [{"split": "test", "read": 7, "kept": 7, "dropped": 0, "whole": True}]
    assert [pool["split"] for pool in facts["pool"]] == ["train"]
    assert results["n-samples"]["seven"] == {"original": 7, "effective": 3}
    assert results["hydra_eval"]["partial"] == {"seven": True, "two": False}


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (("limit={sevn: 3}",), "limit: 'sevn' is no task of this run. Did you mean 'seven'?"),
        (("sample_ids={seven: [7]}",), "task 'seven' has documents 0 to 6, and no 7"),
    ],
    ids=["limit", "numbers"],
)
def test_documents_that_are_not_there(tmp_path: Path, tasks: Path, overrides: tuple[str, ...], message: str) -> None:
    done = run(tmp_path, "run", "task=seven", *overrides)
    assert done.returncode == 1
    assert message in done.stderr and "Traceback" not in done.stderr
