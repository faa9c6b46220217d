"""Small task classes of our own, as task code would write them, and what they ask and score, as plain data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hydra_eval.config.schema import DataConfig, FewshotConfig, RunConfig
from hydra_eval.prompts.style import Style
from hydra_eval.records import RequestKind
from hydra_eval.tasks.build import build_tasks
from hydra_eval.tasks.task import Task

from ..toys import composed, write_rows, write_yaml

CLASSES = '''
from functools import partial

import datasets
from datasets import load_dataset

from lm_eval.api.instance import Instance
from lm_eval.api.metrics import mean
from lm_eval.api.task import ConfigurableTask, Task


class Spans(ConfigurableTask):
    """Asks for a span and for the likelihood of none; keeps its own counsel about data, wording and scores."""

    VERSION = 4
    DATASET_PATH = "toys/spans"
    DATASET_NAME = None

    def __init__(self, config=None):
        super().__init__(config={"metadata": {"version": self.VERSION}})
        self.given = config

    def has_training_docs(self):
        return True

    def has_validation_docs(self):
        return True

    def has_test_docs(self):
        return False

    def training_docs(self):
        return self.dataset["train"]

    def validation_docs(self):
        return self.dataset["validation"]

    def doc_to_text(self, doc):
        return f"Text: {doc['text']}\\nQuestion: {doc['question']}\\nAnswer:"

    def doc_to_target(self, doc):
        return " " + (doc["answers"][0] if doc["answers"] else "none")

    def construct_requests(self, doc, ctx, chat_template=None, apply_chat_template=False, **kwargs):
        return [
            Instance(request_type="generate_until", doc=doc, arguments=(ctx, {"until": ["\\n"]}), idx=0, **kwargs),
            Instance(request_type="loglikelihood", doc=doc, arguments=(ctx, " none"), idx=0, **kwargs),
        ]

    def process_results(self, doc, results):
        reply, (logprob, _) = results
        return {"found": float(reply.strip() in doc["answers"]), "pair": (logprob, len(doc["answers"]))}

    def aggregation(self):
        return {"found": mean, "pair": partial(sum_of, 0)}

    def higher_is_better(self):
        return {"found": True, "pair": False}


def sum_of(index, values):
    return sum(value[index] for value in values)


class Echo(Task):
    """Leaves nothing to its base class; documents are texts; loads its data by the function's own name."""

    VERSION = 0

    def download(self, data_dir=None, cache_dir=None, download_mode=None):
        self.dataset = load_dataset("toys/spans", split="validation")

    def has_training_docs(self):
        return False

    def has_validation_docs(self):
        return True

    def has_test_docs(self):
        return False

    def validation_docs(self):
        return [row["text"] for row in self.dataset]

    def doc_to_text(self, doc):
        return doc.upper()

    def doc_to_target(self, doc):
        return " " + doc

    def construct_requests(self, doc, ctx, metadata=None, **kwargs):
        return Instance("loglikelihood_rolling", doc, (doc,), 0, metadata=metadata)

    def process_results(self, doc, results):
        return {"nats": results[0], "length": len(doc)}

    def aggregation(self):
        return {"nats": mean}

    def higher_is_better(self):
        return {"nats": False}


class Asked(ConfigurableTask):
    """Follows its config, but for the wording of the question."""

    def __init__(self, config):
        super().__init__(config={key: value for key, value in config.items() if key not in ("class", "recipe")})

    def doc_to_text(self, doc, doc_to_text=None):
        return super().doc_to_text(doc, doc_to_text) + " Say:"
'''
CONFIGURED = {
    "generated": {
        "output_type": "generate_until",
        "doc_to_target": "{{answers[0] if answers else 'none'}}",
        "generation_kwargs": {"until": ["."], "max_gen_toks": 4},
        "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
        "filter_list": [{"name": "number", "filter": [{"function": "regex", "regex_pattern": "\\d"}]}],
    },
    "chosen": {
        "output_type": "multiple_choice",
        "doc_to_choice": ["0", "1", "3"],
        "doc_to_target": "{{answers|length}}",
        "description": "About {{text}}.",
        "fewshot_config": {"sampler": "first_n", "doc_to_text": "{{text}}?", "target_delimiter": " is "},
        "metadata": {"version": 2.5},
        "repeats": 2,
    },
    "weighed": {"output_type": "loglikelihood", "doc_to_target": " none", "gen_prefix": "So:"},
    "read": {"output_type": "loglikelihood_rolling", "doc_to_target": "text"},
}
"""Configs of the class that follows one."""
SPANS = [
    {"text": f"a stone and {number} sticks", "question": f"how many {number}?", "answers": [str(number)] * (number % 2)}
    for number in range(6)
]
REPLIES = {RequestKind.GENERATE: " 3", RequestKind.LOGLIKELIHOOD: (-1.5, False), RequestKind.ROLLING: -7.25}
STYLES = {
    "plain": Style(),
    "system": Style(system="Be brief."),
    "chat": Style(chat=lambda messages, prompts: json.dumps([*messages, prompts]), system="Be brief."),
    "one turn": Style(chat=lambda messages, prompts: json.dumps([*messages, prompts]), multiturn=False),
}


def write_classes(folder: Path) -> None:
    """`task.py` with the classes, a YAML for Spans, Echo and each config of Asked, and their data in `data/`."""
    (folder / "task.py").write_text(CLASSES, encoding="utf-8")
    for name in ("Spans", "Echo"):
        text = f"task: {name.lower()}\nclass: !function task.{name}\nrecipe: tea\n"
        (folder / f"{name.lower()}.yaml").write_text(text, encoding="utf-8")
    for name, keys in CONFIGURED.items():
        splits = {"training_split": "train", "validation_split": "validation", "fewshot_split": "train"}
        content = {"task": name, "class": "!function task.Asked", "dataset_path": "toys/spans", **splits}
        write_yaml(folder / f"{name}.yaml", content | {"doc_to_text": "{{text}}: {{question}}"} | keys)
    place = folder / "data" / "toys" / "spans" / "default"
    place.mkdir(parents=True)
    write_rows(place / "validation.jsonl", SPANS)
    write_rows(place / "train.jsonl", [{**row, "question": f"before: {row['question']}"} for row in SPANS])


def class_config(folder: Path, spec: str, **changes: Any) -> RunConfig:
    return composed(folder, spec, data=DataConfig(root=str(folder / "data")), **changes)


def class_task(folder: Path, spec: str, **changes: Any) -> Task:
    (task,) = build_tasks(class_config(folder, spec, **changes))
    return task


def asked(task: Task, style: Style, docs: Sequence[int] | None = None) -> list[Any]:
    """Document by document (kind, arguments) of each request."""
    assert task.own_requests is not None
    numbers = range(len(task.docs)) if docs is None else docs
    found = [task.own_requests(task.docs[number], (), style) for number in numbers]
    return [[(request.kind.value, list(request.arguments)) for request in requests] for requests in found]


def scored(task: Task) -> list[Any]:
    """What each document's made-up replies score."""
    assert task.own_requests is not None and task.process_results is not None
    replies = [[REPLIES[request.kind] for request in task.own_requests(doc, (), Style())] for doc in task.docs]
    return [dict(task.process_results(doc.row, outputs)) for doc, outputs in zip(task.docs, replies, strict=True)]


def described(folder: str, cases: Sequence[tuple[str, int, str]]) -> str:
    """All of some (task, shots, style) as JSON, for a comparison between two processes."""
    return json.dumps([_described(Path(folder), *case) for case in cases], default=list)


def _described(folder: Path, name: str, n: int, style: str) -> dict[str, Any]:
    task = class_task(folder, name, fewshot=FewshotConfig(n=n))
    return {
        "requests": asked(task, STYLES[style]),
        "scores": scored(task),
        "targets": [task.template.target(doc.row) for doc in task.docs],
        "metrics": [(metric.name, metric.aggregation.stderr, metric.higher_is_better) for metric in task.metrics],
        "filters": [pipeline.name for pipeline in task.filters],
        "version": task.version,
        "repeats": task.repeats,
    }
