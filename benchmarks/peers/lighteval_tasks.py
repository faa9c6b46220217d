"""The rows of a multiple-choice data set as lighteval is fed with them, in a file that hydra-eval reads, too."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

TASK_FILE = '''\
"""Local rows, asked as lm-evaluation-harness asks them."""

from lighteval.metrics.metrics import Metrics
from lighteval.tasks.lighteval_task import LightevalTaskConfig
from lighteval.tasks.requests import Doc


def ask(line, task_name=None):
    return Doc(
        task_name=task_name,
        query=f"Question: {{line['question']}}\\nAnswer:",
        choices=[f" {{text}}" for text in line["choices"]["text"]],
        gold_index=line["choices"]["label"].index(line["answerKey"]),
    )


TASKS_TABLE = [
    LightevalTaskConfig(
        name={name!r},
        prompt_function=ask,
        hf_repo={data!r},
        hf_subset="default",
        hf_avail_splits=["train", "validation", "test"],
        evaluation_splits=["test"],
        few_shots_split="train",
        few_shots_select="sequential",
        metrics=[Metrics.loglikelihood_acc],
        version=0,
    )
]
'''
"""`sequential` takes the first examples of the split for every document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowSetting:
    """A data set with a number of fixed examples."""

    task: str
    """Not the name of one of lighteval's own."""
    data: str
    """Data set and subset, looked for among the local ones."""
    shots: int
    documents: int


ARC_EASY, ARC_CHALLENGE = "allenai/ai2_arc/ARC-Easy", "allenai/ai2_arc/ARC-Challenge"

ROW_SETTINGS: dict[str, RowSetting] = {
    "arc_easy_fixed": RowSetting(task="arc_easy_rows", data=ARC_EASY, shots=5, documents=48),
    "arc_easy_zero": RowSetting(task="arc_easy_rows", data=ARC_EASY, shots=0, documents=48),
    "arc_challenge_fixed": RowSetting(task="arc_challenge_rows", data=ARC_CHALLENGE, shots=25, documents=12),
}


def write_rows_task(setting: RowSetting, *, root: Path, folder: Path) -> Path:
    data = root.resolve() / setting.data
    if not data.is_dir():
        raise SystemExit(f"{data} is not there: --data names the folder of ORG/NAME/SUBSET/SPLIT.jsonl.")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    path = folder / "rows.py"
    path.write_text(TASK_FILE.format(name=setting.task, data=str(data)), encoding="utf-8")
    return path
