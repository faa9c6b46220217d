"""Processes of one run that have different amounts of memory."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from hydra_eval.api import evaluate
from tests.models.building import save_tiny
from tests.program import free_port, start
from tests.toy_tasks import write_task
from tests.toys import data_sets_prepared_in

pytestmark = pytest.mark.multiprocess

PROGRAM = """
import os
import torch
from transformers.models.llama.modeling_llama import LlamaModel
from hydra_eval.app import main

forward = LlamaModel.forward

def limited(self, input_ids, **options):
    if os.environ["RANK"] == "1" and input_ids.numel() > int(os.environ["MOST_TOKENS"]):
        raise torch.OutOfMemoryError("CUDA out of memory.")
    return forward(self, input_ids, **options)

LlamaModel.forward = limited
main()
"""
MODEL = ("model=hf", "model.pretrained=model", "model.batch_tokens=600", "tracker=none")
FEW = 60
"""Enough for each request alone, and far less than a packet takes."""
TOO_FEW = 25
"""Enough for what is tried while the model is loaded."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model, a task of thirty documents, and the program on processes of limited memory."""
    folder = tmp_path_factory.mktemp("uneven")
    save_tiny(folder / "model")
    write_task(folder / "tasks", "thirty", 30)
    (folder / "limited.py").write_text(PROGRAM, encoding="utf-8")
    return folder


def run_limited(place: Path, run: str, most: int, *, sharing: bool) -> CompletedProcess[str]:
    """On two processes, of which the second has room for so many tokens in a forward pass."""
    launch = (sys.executable, "-m", "accelerate.commands.accelerate_cli", "launch", "--multi_gpu")
    processes = ("--num_processes", "2", "--main_process_port", str(free_port()), "limited.py")
    what = ("task=thirty", f"hydra.searchpath=[tasks://{place / 'tasks'}]", f"hydra.run.dir={run}")
    return start(
        *launch, *processes, *what, *MODEL, f"model.prefix_sharing={sharing}", cwd=place, MOST_TOKENS=str(most)
    )


@pytest.fixture(scope="module")
def ample(place: Path) -> list[dict[str, Any]]:
    """The rows of one process that has all the memory it wants."""
    with pytest.MonkeyPatch.context() as patch, data_sets_prepared_in(place / "cache"):
        patch.chdir(place)
        patch.setenv("HYDRA_EVAL_TASK_PATH", str(place / "tasks"))
        evaluate(["thirty"], MODEL, folder=place / "ample")
    return rows_in(place / "ample")


def rows_in(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "samples_thirty.jsonl").read_text(encoding="utf-8").splitlines()]


def logprobs(row: dict[str, Any]) -> list[float]:
    return [float(found[0][0]) for found in row["resps"]]


@pytest.mark.parametrize("sharing", [True, False], ids=["shared", "alone"])
def test_a_rank_that_is_short_of_memory_halves_alone(sharing: bool, place: Path, ample: list[dict[str, Any]]) -> None:
    done = run_limited(place, f"short_{sharing}", FEW, sharing=sharing)
    assert done.returncode == 0, done.stderr
    found = rows_in(place / f"short_{sharing}")
    assert [row["doc_id"] for row in found] == list(range(30))
    for row, other in zip(found, ample, strict=True):
        assert logprobs(row) == pytest.approx(logprobs(other), abs=1e-4)
    halved = sum("halvings" in row for row in found)
    assert 0 < halved < 30 and not any("halvings" in row for row in ample)


def test_a_request_too_large_for_one_rank_ends_all_and_is_named(place: Path) -> None:
    done = run_limited(place, "over", TOO_FEW, sharing=False)
    assert done.returncode != 0
    said = done.stdout + done.stderr
    assert "rank 1: Task 'thirty', document" in said and "out of memory with this request alone" in said
