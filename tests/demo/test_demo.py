"""The demo's data come from the script, its model has never read an evaluated row, and its files fit in the wheel."""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from hydra_eval.demo import world
from hydra_eval.demo.corpus import run_text, training_runs
from hydra_eval.demo.splits import SPLITS
from hydra_eval.demo.write_data import data_files
from hydra_eval.resources import PACKAGE, shelf_folder

DATA = shelf_folder() / "demo"
MODEL = PACKAGE / "demo" / "model"
TASKS = ("demo_sums", "demo_scales", "demo_ledger")
NUMBER_LINE = re.compile(r".* lands .*|.*How many now\?|Answer: \d+ [+-] \d+ =")
"""Lines that name two numbers to be added or subtracted: a catch, a story, a working."""


@cache
def training_texts() -> tuple[str, ...]:
    return tuple(run_text(run) for run in training_runs())


def rows(task: str, split: str = "test") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / f"{task}_{split}.jsonl").read_text(encoding="utf-8").splitlines()]


def pairs_in(texts: tuple[str, ...] | list[str]) -> set[frozenset[int]]:
    """Every two numbers that stand together in a catch, a story or a working, whatever their order."""
    lines = (line for text in texts for line in NUMBER_LINE.findall(text))
    return {frozenset(map(int, re.findall(r"\d+", line))) for line in lines}


def animals_in(texts: tuple[str, ...] | list[str]) -> set[frozenset[str]]:
    """The animals of every question."""
    questions = (question for text in texts for question in re.findall(r"Which is the [^?]*\?", text))
    return {frozenset(re.findall(r"[a-z]+", question)) & frozenset(world.BY_WEIGHT) for question in questions}


@pytest.mark.parametrize("name", sorted(data_files()))
def test_the_data_are_what_the_script_writes(name: str) -> None:
    assert (DATA / name).read_text(encoding="utf-8") == data_files()[name]


@pytest.mark.parametrize("task", TASKS)
def test_each_task_has_enough_different_rows(task: str) -> None:
    evaluated = [json.dumps(row) for row in rows(task)]
    assert len(set(evaluated)) == len(evaluated) >= 300
    assert not set(evaluated) & {json.dumps(row) for row in rows(task, "train")}


@pytest.mark.parametrize(("task", "field"), [("demo_sums", "story"), ("demo_ledger", "catch")])
def test_no_evaluated_numbers_are_in_the_training_text(task: str, field: str) -> None:
    evaluated = pairs_in([f"{row[field]} How many now?" for row in rows(task)])
    assert {len(pair) for pair in evaluated} == {2} and len(evaluated) == len(rows(task))
    assert not evaluated & pairs_in(training_texts())


def test_no_evaluated_animals_are_in_the_training_text() -> None:
    evaluated = animals_in([row["question"] for row in rows("demo_scales")])
    assert {len(animals) for animals in evaluated} == {4} and len(evaluated) == len(rows("demo_scales"))
    assert not evaluated & animals_in(training_texts())


@pytest.mark.parametrize("task", TASKS)
def test_no_evaluated_prompt_is_in_the_training_text(task: str) -> None:
    trained = {document.prompt for run in training_runs() for document in run}
    assert not {document.prompt for document in SPLITS[task]("test")} & trained


def test_the_training_text_is_not_empty() -> None:
    assert len(training_texts()) > 10_000
    assert len(pairs_in(training_texts())) > 1_000 and len(animals_in(training_texts())) > 5_000


def test_every_label_is_right_in_a_quarter_of_the_rows() -> None:
    assert Counter(row["label"] for row in rows("demo_scales")) == {label: 90 for label in range(4)}


def test_the_answers_are_right() -> None:
    for row in rows("demo_scales"):
        places = [world.BY_WEIGHT.index(choice.removeprefix("the ")) for choice in row["choices"]]
        best = max(places) if "heaviest" in row["question"] else min(places)
        assert places[row["label"]] == best
    for row in rows("demo_ledger"):
        first, second = map(int, re.findall(r"\d+", row["catch"]))
        assert row["sum"] == first + second and str(row["sum"]) in row["entry"]


def test_the_model_fits_in_the_wheel() -> None:
    size = sum(path.stat().st_size for path in MODEL.iterdir())
    assert 1_000_000 < size <= 3_200_000
    assert {"model.safetensors", "tokenizer.json", "config.json", "README.md"} <= {
        path.name for path in MODEL.iterdir()
    }


def test_the_model_loads_and_its_tokenizer_gives_every_text_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(MODEL)
    model = AutoModelForCausalLM.from_pretrained(MODEL)
    assert len(tokenizer) == model.config.vocab_size
    for task in TASKS:
        for document in SPLITS[task]("test")[:50]:
            text = f"{document.prompt} {document.answer}"
            assert tokenizer.decode(tokenizer.encode(text)) == text


def test_data_can_be_written_anywhere(tmp_path: Path) -> None:
    from hydra_eval.demo.write_data import main

    main(tmp_path / "demo")
    assert {path.name for path in (tmp_path / "demo").iterdir()} == set(data_files())
