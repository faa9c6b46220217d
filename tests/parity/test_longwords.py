"""The bundled long-text task: its files, its lists and its scores."""

from __future__ import annotations

import importlib.util
import json
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from .conftest import REPOSITORY

FOLDER = REPOSITORY / "tasks" / "longwords"


def load(name: str) -> ModuleType:
    """A file of the task's folder as a module: `tasks/` is data, not a package."""
    spec = importlib.util.spec_from_file_location(f"longwords_{name}", FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


hooks = load("utils")
DOC = {"common": ["badona", "kiru"], "common_times": 4, "rare": ["lopi", "muveta"], "rare_times": 2, "seed": 7}


def test_files_are_what_the_script_writes(tmp_path: Path) -> None:
    load("generate").main(tmp_path)
    for split in ("train", "test"):
        assert (tmp_path / f"{split}.jsonl").read_bytes() == (FOLDER / "data" / f"{split}.jsonl").read_bytes()


def test_every_list_is_as_long_as_its_row_says() -> None:
    rows = [json.loads(line) for line in (FOLDER / "data" / "test.jsonl").read_text().splitlines()]
    assert [len(hooks.write_out_list(row)["words"].split()) for row in rows] == [row["length"] for row in rows]
    assert Counter(row["length"] for row in rows) == {150: 20, 300: 20, 600: 20, 1200: 20}


def test_list_holds_each_word_as_often_as_told() -> None:
    words = hooks.write_out_list(DOC)["words"].split()
    assert Counter(words) == {"badona": 4, "kiru": 4, "lopi": 2, "muveta": 2}
    assert words != sorted(words)


@pytest.mark.parametrize(
    ("reply", "recall", "all_found"),
    [
        pytest.param(" badona, kiru", 1.0, 1.0, id="as asked"),
        pytest.param("1. Kiru\n2. Badona.", 1.0, 1.0, id="numbered, capitals, other order"),
        pytest.param("kiru kiru badona", 1.0, 1.0, id="a word said twice takes one place"),
        pytest.param("kiru, lopi, badona", 0.5, 0.0, id="words past the number asked for"),
        pytest.param("kirus, badonas", 0.0, 0.0, id="longer words"),
        pytest.param("", 0.0, 0.0, id="nothing"),
    ],
)
def test_score_reply(reply: str, recall: float, all_found: float) -> None:
    assert hooks.score_reply(DOC, [reply]) == {"recall": recall, "all_found": all_found}
