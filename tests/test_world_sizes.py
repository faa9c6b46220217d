"""Every few-shot strategy on one, two and three processes, and under a limit: each document has the same prompt."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from hydra_eval.fewshot import STRATEGIES
from tests.program import run_program
from tests.toy_tasks import CHOICE, GENERATION, row, write_task

pytestmark = pytest.mark.multiprocess

FUNCTION = "picker:pick"
NAMES = (*STRATEGIES, FUNCTION)
PICKER = "def pick(pool, doc, n, seed):\n    first = len(doc['question']) + seed\n"
PICKER += "    return [(first + place) % len(pool) for place in range(n)]\n"
WRITTEN = re.sub(r'"(\w+)":', r"\1:", json.dumps([row("written", number) for number in range(3)]))
"""As Hydra has mappings: keys without quotation marks."""
Prompts: TypeAlias = Mapping[tuple[str, int], tuple[str, tuple[int, ...]]]
"""(task, document) → hash of its prompt, its examples."""


def write_tasks(folder: Path) -> None:
    """Tasks with a pool of their own, and one whose documents are the pool: there each document has to be left out."""
    write_task(folder, "apart", 7)
    write_task(folder, "words", 5, **GENERATION)
    write_task(folder, "within", 8, **CHOICE, fewshot_split="test")
    (folder / "picker.py").write_text(PICKER, encoding="utf-8")


def sweep(folder: Path, *overrides: str, processes: int = 1) -> dict[str, Prompts]:
    """Strategy → what it shows, from one sweep over all of them."""
    done = run_program(
        "-m",
        "task=[apart,words,within]",
        f"hydra.searchpath=[tasks://{folder}]",
        f"hydra.sweep.dir=swept_{processes}_{len(overrides)}",
        f"fewshot.strategy={','.join(NAMES)}",
        "fewshot.n=2",
        "fewshot.indices=[3,1,2]",
        f"fewshot.samples={WRITTEN}",
        "fewshot.order=shuffled",
        "model=dummy",
        "tracker=none",
        *overrides,
        processes=processes,
        cwd=folder,
        PYTHONPATH=str(folder),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    root = folder / f"swept_{processes}_{len(overrides)}"
    jobs = [json.loads(line) for line in (root / "sweep.jsonl").read_text(encoding="utf-8").splitlines()]
    return {strategy: prompts_in(root / job["folder"]) for strategy, job in zip(NAMES, jobs, strict=True)}


def prompts_in(folder: Path) -> Prompts:
    rows: list[tuple[str, dict[str, Any]]] = [
        (file.stem, json.loads(line))
        for file in folder.glob("samples_*.jsonl")
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    return {(task, found["doc_id"]): (found["prompt_hash"], tuple(found["shots"])) for task, found in rows}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("world_sizes")
    write_tasks(found)
    return found


@pytest.fixture(scope="module")
def alone(folder: Path) -> dict[str, Prompts]:
    return sweep(folder)


def test_strategies_show_every_document_its_examples(alone: dict[str, Prompts]) -> None:
    assert {strategy: len(prompts) for strategy, prompts in alone.items()} == dict.fromkeys(NAMES, 7 + 5 + 8)
    assert all(len(shots) == 2 for prompts in alone.values() for _, shots in prompts.values())
    assert len({frozenset(prompts.items()) for prompts in alone.values()}) > 10  # those that draw differ


@pytest.mark.parametrize("processes", [2, 3], ids=["two processes", "three processes"])
def test_prompts_do_not_depend_on_the_number_of_processes(
    processes: int, folder: Path, alone: dict[str, Prompts]
) -> None:
    assert sweep(folder, processes=processes) == alone


def test_prompts_do_not_depend_on_the_limit(folder: Path, alone: dict[str, Prompts]) -> None:
    kept = {
        strategy: {key: found for key, found in prompts.items() if key[1] < 3} for strategy, prompts in alone.items()
    }
    assert sweep(folder, "limit=3") == kept
