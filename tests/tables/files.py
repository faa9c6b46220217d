"""Writes lighteval task files with their data, and builds their tasks."""

from __future__ import annotations

import textwrap
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

import pytest

from hydra_eval.config.schema import DataConfig
from hydra_eval.fewshot import pick_shots
from hydra_eval.tasks.build import build_tasks
from hydra_eval.tasks.task import Task

from ..toys import Rows, composed, write_rows

stand_in = pytest.mark.skipif(
    PathFinder.find_spec("lighteval") is not None, reason="about the stand-in for lighteval, which is installed"
)
TEST: Rows = tuple({"number": number, "answer": number % 3} for number in range(100, 106))
TRAIN: Rows = tuple({"number": number, "answer": int(number > 4) + int(number > 8)} for number in range(12))

HEAD = """
from lighteval.metrics.dynamic_metrics import LogLikelihoodAccMetric
from lighteval.metrics.metrics import Metrics
from lighteval.metrics.normalizations import LogProbCharNorm, LogProbPMINorm, LogProbTokenNorm
from lighteval.metrics.metrics_corpus import CorpusLevelComputation
from lighteval.metrics.metrics_sample import SampleLevelComputation
from lighteval.metrics.sample_preparator import GenerativePreparator
from lighteval.metrics.utils.metric_utils import CorpusLevelMetric, SampleLevelMetric, SampleLevelMetricGrouping
from lighteval.tasks.lighteval_task import LightevalTaskConfig
from lighteval.tasks.requests import Doc, SamplingMethod

DATA = dict(
    hf_repo="org/set",
    hf_subset="default",
    hf_avail_splits=["train", "test"],
    evaluation_splits=["test"],
)
CHOICES = [" no", " yes", " maybe"]


def pick(line, task_name=None):
    return Doc(query=f"Q: {line['number']}\\nA:", choices=CHOICES, gold_index=line["answer"], task_name=task_name)


def told(line, task_name=None):
    head = "INSTR\\n\\n"
    query = f"{head}Q: {line['number']}\\nA:"
    return Doc(query=query, choices=CHOICES, gold_index=line["answer"], instruction=head)


def say(line, task_name=None):
    return Doc(query=f"Q: {line['number']}\\nA:", choices=[CHOICES[line["answer"]]], gold_index=0)
"""
PICK = "LightevalTaskConfig(name='pick', prompt_function=pick, metrics=[Metrics.loglikelihood_acc], **DATA)"


def write_table(folder: Path, *entries: str, body: str = "", test: Rows = TEST, train: Rows = TRAIN) -> Path:
    """`table.py` with these entries in its TASKS_TABLE, and its data below the same folder."""
    path = folder / "table.py"
    table = f"TASKS_TABLE = [{', '.join(entries or (PICK,))}]\n"
    path.write_text(HEAD + textwrap.dedent(body) + table, encoding="utf-8")
    write_split(folder, "test", test)
    write_split(folder, "train", train)
    return path


def write_split(folder: Path, split: str, rows: Rows) -> Path:
    path = folder / "org" / "set" / "default" / f"{split}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_rows(path, rows)
    return path


def entry(
    name: str = "pick", function: str = "pick", metrics: str = "Metrics.loglikelihood_acc", rest: str = ""
) -> str:
    return f"LightevalTaskConfig(name='{name}', prompt_function={function}, metrics=[{metrics}], {rest} **DATA)"


def table_tasks(path: Path, *specs: str, **changes: Any) -> list[Task]:
    """The tasks of `task=[PATH:SPEC,…]`, or of the whole file."""
    asked = [f"{path}:{spec}" for spec in specs] or [str(path)]
    return build_tasks(composed(path.parent, *asked, **{"data": DataConfig(root=str(path.parent))} | changes))


def table_task(path: Path, spec: str = "pick", **changes: Any) -> Task:
    (task,) = table_tasks(path, spec, **changes)
    return task


def shown_numbers(task: Task) -> list[list[int]]:
    """The numbers in the queries of each document's examples."""
    return [[number_of(shot) for shot in shots] for shots in pick_shots(task).shots]


def number_of(doc: Any) -> int:
    return int(doc.row["query"].removeprefix("Q: ").partition("\n")[0])
