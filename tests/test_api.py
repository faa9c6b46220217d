from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from hydra_eval.api import evaluate
from hydra_eval.errors import UserError
from hydra_eval.fleet import JobFailed

from .program import clean_environment, free_port, start
from .toy_tasks import CHOICE, write_task
from .toys import data_sets_prepared_in

QUIET = ["model=dummy", "tracker=none"]
SCRIPT = """
from hydra_eval.api import evaluate

results = evaluate(["choice"], ["model=dummy", "tracker=none"], folder="run")
print(f"RESULT {results['results']['choice']['sample_len']} {results['hydra_eval']['world_size']}")
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The working folder, with a task of 4 documents that `task=` knows."""
    write_task(tmp_path / "tasks", "choice", 4)
    monkeypatch.setenv("HYDRA_EVAL_TASK_PATH", str(tmp_path / "tasks"))
    monkeypatch.chdir(tmp_path)
    with data_sets_prepared_in(tmp_path / "cache"):
        yield tmp_path


def mapping(**changes: Any) -> dict[str, Any]:
    files = {"data_files": {"train": "tasks/choice_train.jsonl", "test": "tasks/choice_test.jsonl"}}
    content = {"task": "mine", "dataset_path": "json", "dataset_kwargs": files, "test_split": "test", **CHOICE}
    return content | changes


def shout(doc: Mapping[str, Any]) -> str:
    return str(doc["question"]).upper()


def test_results_come_back_and_lie_in_the_folder(folder: Path) -> None:
    results = evaluate(["choice|2"], QUIET, folder="run")
    assert results == json.loads((folder / "run" / "results.json").read_text(encoding="utf-8"))
    assert (results["n-shot"], results["n-samples"]["choice"]["effective"]) == ({"choice": 2}, 4)


def test_a_mapping_with_functions_is_a_task(folder: Path) -> None:
    results = evaluate([mapping(doc_to_text=shout), "choice"], [*QUIET, "limit=1"], folder="run")
    assert list(results["results"]) == ["mine", "choice"]
    (line,) = (folder / "run" / "samples_mine.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["arguments"]["gen_args_0"]["arg_0"] == "TEST 0: WORD0?"
    assert "return str(doc" in results["configs"]["mine"]["doc_to_text"]


def test_without_a_name_the_folder_is_a_new_one(folder: Path) -> None:
    evaluate(["choice"], QUIET)
    evaluate(["choice"], QUIET)
    assert len(list((folder / "outputs").glob("*/*-python*/results.json"))) == 2


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        (["chioce"], "unknown task 'chioce'. Did you mean 'choice'"),
        ([mapping(task="choice"), "choice"], "two of the tasks are called 'choice'"),
        ([{"dataset_path": "json"}], "needs its name under 'task'"),
        ([mapping(doc_to_txt="x")], "unknown key 'doc_to_txt'"),
    ],
    ids=["unknown", "twice", "without a name", "misspelt key"],
)
def test_what_the_caller_can_mend_is_said(tasks: list[Any], message: str) -> None:
    with pytest.raises(UserError) as caught:
        evaluate(tasks, QUIET)
    assert message in str(caught.value)


def test_a_finished_folder_is_not_written_again() -> None:
    evaluate(["choice"], QUIET, folder="run")
    with pytest.raises(UserError, match="holds a finished run"):
        evaluate(["choice"], QUIET, folder="run")


@pytest.mark.multiprocess
def test_every_process_gets_the_results(folder: Path) -> None:
    (folder / "script.py").write_text(SCRIPT, encoding="utf-8")
    path = clean_environment() | {"HYDRA_EVAL_TASK_PATH": str(folder / "tasks")}
    launch = ["accelerate", "launch", "--multi_gpu", "--num_processes", "2", "--main_process_port", str(free_port())]
    done = start(*launch, "script.py", cwd=folder, **path)
    assert done.stdout.count("RESULT 4 2") == 2, done.stderr


def breaks(doc: Mapping[str, Any]) -> str:
    raise RuntimeError("a fault of the hook's own")


def test_a_fault_of_a_hook_comes_with_its_trace() -> None:
    with pytest.raises(JobFailed, match="a fault of the hook's own") as caught:
        evaluate([mapping(doc_to_text=breaks)], QUIET)
    assert "in breaks" in caught.value.__notes__[0]
