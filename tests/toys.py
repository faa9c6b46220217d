"""One toy task, in memory and as a folder, and small builders around it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from hydra_eval.config.schema import RunConfig
from hydra_eval.config.task_index import task_index
from hydra_eval.config.task_options import options_for
from hydra_eval.filters.build import build_pipelines
from hydra_eval.metrics.build import build_metrics
from hydra_eval.records import Doc, Generation, Instance, InstanceKey, RequestKind, Response
from hydra_eval.tasks.build import build_tasks
from hydra_eval.tasks.task import ShotPlan, Task, Template

Rows = Sequence[Mapping[str, Any]]

COLOURS: Rows = (
    {"thing": "grass", "colours": ["green", "blue"], "label": 0, "colour": "green"},
    {"thing": "a clear sky", "colours": ["red", "blue"], "label": 1, "colour": "blue"},
    {"thing": "fresh snow", "colours": ["white", "black"], "label": 0, "colour": "white"},
    {"thing": "coal", "colours": ["white", "black"], "label": 1, "colour": "black"},
)
"""Documents of the toy task."""
FRUIT: Rows = (
    {"thing": "a ripe banana", "colours": ["yellow", "grey"], "label": 0, "colour": "yellow"},
    {"thing": "a plum", "colours": ["white", "purple"], "label": 1, "colour": "purple"},
    {"thing": "a lime", "colours": ["green", "pink"], "label": 0, "colour": "green"},
    {"thing": "a carrot", "colours": ["blue", "orange"], "label": 1, "colour": "orange"},
    {"thing": "a beet", "colours": ["red", "teal"], "label": 0, "colour": "red"},
)
"""Rows that its examples come from."""
CHOICE: Mapping[str, Any] = {
    "task": "toy",
    "output_type": "multiple_choice",
    "dataset_path": "json",
    "dataset_kwargs": {"data_files": {"train": "train.jsonl", "test": "test.jsonl"}},
    "fewshot_split": "train",
    "test_split": "test",
    "doc_to_text": "What is the colour of {{thing}}?",
    "doc_to_choice": "colours",
    "doc_to_target": "label",
}
"""The toy task's YAML."""
GREEDY = Generation(max_new_tokens=16, stop=("\n",))


def docs_of(rows: Rows, *, task: str = "toy", split: str = "test") -> tuple[Doc, ...]:
    return tuple(Doc(task=task, split=split, index=index, row=row) for index, row in enumerate(rows))


def toy_task(output_type: str = "multiple_choice", **changes: Any) -> Task:
    """The toy task in memory, as one of lm-eval's output types."""
    is_choice = output_type == "multiple_choice"
    template = Template(
        text=lambda row: f"What is the colour of {row['thing']}?",
        target=lambda row: row["label"] if is_choice else row["colour"],
        choices=(lambda row: row["colours"]) if is_choice else None,
        gen_prefix=lambda row: None,
        target_delimiter=" ",
        fewshot_delimiter="\n\n",
    )
    generates = output_type == "generate_until"
    task = Task(
        name="toy",
        output_type=output_type,
        docs=docs_of(COLOURS),
        all_docs=docs_of(COLOURS),
        description=lambda row: None,
        template=template,
        shot_template=template,
        shots=shot_plan(),
        multiple_input=False,
        multiple_target=False,
        generation=GREEDY if generates else None,
        generation_kwargs={"until": ["\n"], "max_gen_toks": 16} if generates else None,
        repeats=1,
        filters=build_pipelines(None, where="toy"),
        metrics=build_metrics(None, output_type=output_type, has_process_results=False, where="toy"),
        process_results=None,
        version=1.0,
        config={"task": "toy"},
        source="toy.yaml",
    )
    return replace(task, **changes)


def shot_plan(pool: Sequence[Doc] | None = None, **changes: Any) -> ShotPlan:
    plan = ShotPlan(
        strategy="task",
        n=0,
        seed=1234,
        pool=docs_of(FRUIT, split="train") if pool is None else tuple(pool),
        pool_split="train",
    )
    return replace(plan, **changes)


def request(doc: int = 0, index: int = 0, *, kind: RequestKind = RequestKind.LOGLIKELIHOOD, **changes: Any) -> Instance:
    """A request with short texts."""
    instance = Instance(
        key=InstanceKey("toy", doc, index, 0),
        kind=kind,
        context="What is the colour of grass?",
        continuation=None if kind is RequestKind.GENERATE else " green",
        generation=GREEDY if kind is RequestKind.GENERATE else None,
        arguments=("What is the colour of grass?", " green"),
    )
    return replace(instance, **changes)


def reply(instance: Instance, **said: Any) -> tuple[Instance, Response]:
    return instance, Response(key=instance.key, **said)


def write_rows(path: Path, rows: Rows) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def write_yaml(path: Path, content: Mapping[str, Any]) -> Path:
    """The content as YAML; text that starts with `!function ` becomes that tag."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.dump(dict(content), Dumper=_Dumper, sort_keys=False), encoding="utf-8")
    return path


def write_task(folder: Path, content: Mapping[str, Any] = CHOICE, *, test: Rows = COLOURS, train: Rows = FRUIT) -> Path:
    """A task folder with its data: `<task>.yaml`, `train.jsonl`, `test.jsonl`."""
    path = write_yaml(folder / f"{content['task']}.yaml", content)
    write_rows(folder / "train.jsonl", train)
    write_rows(folder / "test.jsonl", test)
    return path


def composed(folder: Path, *specs: str, **changes: Any) -> RunConfig:
    """The run's config for `task=[SPECS]` with the tasks of one folder, without Hydra."""
    content: dict[str, Any] = {"tasks": {}, "groups": {}, "selection": {}}
    for spec in specs or ("toy",):
        for section, added in options_for(spec, task_index((folder,))).items():
            content[section] |= added
    return RunConfig(**content, **changes)


def built(folder: Path, *specs: str, **changes: Any) -> list[Task]:
    return build_tasks(composed(folder, *specs, **changes))


@contextmanager
def data_sets_prepared_in(folder: Path) -> Iterator[None]:
    """Keeps what `datasets` prepares out of the user's cache."""
    import datasets

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(datasets.config, "HF_DATASETS_CACHE", folder)
        patch.setattr(datasets.config, "HF_UPDATE_DOWNLOAD_COUNTS", False)
        yield


def oracle_task(path: Path, *, n: int = 0, seed: int = 1234) -> Any:
    """lm-eval's own task of the same file, with n examples per document."""
    task_module = pytest.importorskip("lm_eval.api.task", reason="needs lm-evaluation-harness (extra: parity)")
    from lm_eval.tasks._yaml_loader import load_yaml

    config = load_yaml(path)
    files = config["dataset_kwargs"]["data_files"]
    config["dataset_kwargs"] = {"data_files": {split: str(path.parent / name) for split, name in files.items()}}
    task = task_module.ConfigurableTask(config=config)
    task.set_config("num_fewshot", n)
    task.set_fewshot_seed(seed)
    return task


class _Dumper(yaml.SafeDumper):
    pass


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    if value.startswith("!function "):
        return dumper.represent_scalar("!function", value.removeprefix("!function "))
    return dumper.represent_str(value)


_Dumper.add_representer(str, _text)
