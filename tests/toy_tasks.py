"""Writes small task folders for runs of the real program."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

CHOICE: dict[str, Any] = {
    "output_type": "multiple_choice",
    "doc_to_text": "{{question}}",
    "doc_to_target": "answer",
    "doc_to_choice": "choices",
    "metric_list": [{"metric": "acc", "aggregation": "mean", "higher_is_better": True}],
}
GENERATION: dict[str, Any] = {
    "output_type": "generate_until",
    "doc_to_text": "{{question}}",
    "doc_to_target": "{{choices[answer]}}",
    "generation_kwargs": {"until": ["\n"], "max_gen_toks": 8},
}


def write_task(folder: Path, name: str, rows: int, **keys: Any) -> Path:
    """`NAME.yaml` with `rows` documents to evaluate and five to draw examples from."""
    folder.mkdir(parents=True, exist_ok=True)
    for split, count in (("train", 5), ("test", rows)):
        lines = [json.dumps(row(split, number)) for number in range(count)]
        (folder / f"{name}_{split}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    content: Mapping[str, Any] = {
        "task": name,
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {split: f"{name}_{split}.jsonl" for split in ("train", "test")}},
        "training_split": "train",
        "test_split": "test",
        **(keys or CHOICE),
    }
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(dict(content)).replace("'!function ", "!function '"), encoding="utf-8")
    return path


def row(split: str, number: int) -> dict[str, Any]:
    words = " ".join(f"word{number * 7 % 13}" for _ in range(number % 5 + 1))
    return {"question": f"{split} {number}: {words}?", "choices": ["yes", "no", "maybe so"], "answer": number % 3}
