"""What is measured against lm-evaluation-harness, and what must come of it."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.parity.redirect import local_dataset, write_wrapper


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One task with its examples."""

    task: str
    file: str
    """Below lm-eval's folder of tasks."""
    data: tuple[str, str]
    """Data set and subset of the hub, looked for among the local ones."""
    shots: int
    fixed: bool = False
    """The first examples of the pool for every document, instead of other ones drawn for each."""
    documents: int
    speedup: float
    """So many times as fast as lm-eval at its best batch size, at the least."""
    generates: bool = False


ARC_EASY: dict[str, Any] = {
    "task": "arc_easy",
    "file": "arc/arc_easy.yaml",
    "data": ("allenai/ai2_arc", "ARC-Easy"),
    "shots": 5,
    "documents": 48,
}
GSM8K: dict[str, Any] = {
    "task": "gsm8k",
    "file": "gsm8k/gsm8k.yaml",
    "data": ("openai/gsm8k", "main"),
    "shots": 5,
    "documents": 16,
    "generates": True,
}

SETTINGS: dict[str, Setting] = {
    "arc_easy_drawn": Setting(**ARC_EASY, speedup=5),
    "arc_easy_fixed": Setting(**ARC_EASY, fixed=True, speedup=10),
    "arc_challenge_fixed": Setting(
        task="arc_challenge",
        file="arc/arc_challenge.yaml",
        data=("allenai/ai2_arc", "ARC-Challenge"),
        shots=25,
        fixed=True,
        documents=12,
        speedup=40,
    ),
    "gsm8k_fixed": Setting(**GSM8K, fixed=True, speedup=2),
    "gsm8k_drawn": Setting(**GSM8K, speedup=1.25),
    "lambada_openai": Setting(
        task="lambada_openai",
        file="lambada/lambada_openai.yaml",
        data=("EleutherAI/lambada_openai", "default"),
        shots=0,
        documents=200,
        speedup=2,
    ),
}


def write_task(setting: Setting, *, root: Path, folder: Path) -> Path:
    """lm-eval's own task on local rows, in a file that both programs read."""
    found = find_spec("lm_eval")
    if found is None or found.origin is None:
        raise SystemExit("lm-evaluation-harness is not installed; it comes with the extra 'parity'.")
    path, subset = setting.data
    keys = local_dataset({"task": setting.task, "dataset_path": path, "dataset_name": subset}, root)
    if setting.fixed:
        keys["fewshot_config"] = {"sampler": "first_n"}
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return write_wrapper(Path(found.origin).parent / "tasks" / setting.file, keys, folder=folder)
