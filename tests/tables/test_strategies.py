"""lighteval's strategies on a TASKS_TABLE, asked for by the entry and by the run. The vectors are lighteval's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hydra_eval.config.schema import FewshotConfig
from hydra_eval.errors import UserError

from .files import entry, number_of, shown_numbers, table_task, write_table

ONE_SET = [
    ("sequential", 3, 2, "6 7 8"),
    ("sequential", 5, 2, "10 11 0 1 2"),
    ("random", 3, None, "0 1 2"),
    ("random", 5, 3, "1 7 10 0 6"),
    ("balanced", 3, None, "3 8 9"),
    ("balanced", 5, 3, "1 6 10 4 8"),
]
FOR_EACH = [
    ("random_sampling", ["3 11 2", "10 8 1", "0 11 1", "3 8 9", "8 3 11", "3 7 9"]),
    ("random_sampling_from_train", ["3 11 2", "11 1 8", "1 9 6", "0 11 1", "3 11 8", "9 0 8"]),
]


def numbers(text: str) -> list[int]:
    return [int(number) for number in text.split()]


def picked(folder: Path, way: str, strategy: str, **fewshot: Any) -> list[list[int]]:
    by_entry = way == "by the entry"
    path = write_table(folder, entry(rest=f"few_shots_select='{strategy}'," if by_entry else ""))
    run = FewshotConfig(**{"on_leak": "allow", "strategy": "task" if by_entry else strategy} | fewshot)
    return shown_numbers(table_task(path, fewshot=run))


@pytest.mark.parametrize("way", ["by the entry", "by the run"])
@pytest.mark.parametrize(("strategy", "n", "seed", "expected"), ONE_SET)
def test_one_set_for_all(tmp_path: Path, way: str, strategy: str, n: int, seed: int | None, expected: str) -> None:
    assert picked(tmp_path, way, strategy, n=n, seed=seed) == [numbers(expected)] * 6


@pytest.mark.parametrize("way", ["by the entry", "by the run"])
@pytest.mark.parametrize(("strategy", "expected"), FOR_EACH)
def test_examples_for_each(tmp_path: Path, way: str, strategy: str, expected: list[str]) -> None:
    assert picked(tmp_path, way, strategy, n=3) == [numbers(one) for one in expected]


@pytest.mark.parametrize(("strategy", "expected"), FOR_EACH)
def test_natively_each_document_gets_the_same_draw(tmp_path: Path, strategy: str, expected: list[str]) -> None:
    """Under lm-eval's rules the documents stand in the file's order."""
    found = picked(tmp_path, "by the run", strategy, n=3, compat="lm_eval", seed=0, on_leak="replace")
    assert [found[place] for place in (3, 1, 2, 4, 0, 5)] == [numbers(one) for one in expected]


def test_samples_are_rows_of_the_data_set(tmp_path: Path) -> None:
    rows = [{"number": 7, "answer": 1}, {"number": 3, "answer": 0}]
    task = table_task(write_table(tmp_path), fewshot=FewshotConfig(strategy="samples", samples=rows))
    assert shown_numbers(task) == [[7, 3]] * 6
    assert (task.shots.pool_split, task.shots.from_eval) == (None, False)


TAGGED = """
def tagged(line, task_name=None):
    doc = pick(line)
    doc.specific = {"id": line["id"]}
    return doc
"""


def test_documents_with_one_text_are_twins_whatever_else_they_hold(tmp_path: Path) -> None:
    rows = [{"number": number, "answer": 0, "id": place} for place, number in enumerate((1, 1, 2))]
    path = write_table(tmp_path, entry(function="tagged"), body=TAGGED, test=rows, train=rows)
    task = table_task(path, fewshot=FewshotConfig(n=1, split="test"))
    shown = zip(task.docs, shown_numbers(task), strict=True)
    assert {number_of(doc): numbers for doc, numbers in shown} == {1: [2], 2: [1]}


def test_examples_come_from_every_split_that_the_run_names(tmp_path: Path) -> None:
    one, other, both = (
        table_task(write_table(tmp_path), fewshot=FewshotConfig(n=1, split=split))
        for split in ("train", "test", ["train", "test"])
    )
    assert [shot.row for shot in both.shots.pool] == [shot.row for shot in (*one.shots.pool, *other.shots.pool)]
    assert (both.shots.pool_split, both.shots.from_eval) == ("train, test", True)


def test_a_pool_that_is_evaluated_is_said_and_can_be_refused(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = write_table(tmp_path)
    assert table_task(path, fewshot=FewshotConfig(n=1, split="test")).shots.from_eval
    assert [text for text in caplog.messages if "evaluated" in text] == [
        "pick: examples come from the split that is evaluated; no document is its own example. See fewshot.split and "
        "fewshot.on_eval_split."
    ]
    with pytest.raises(UserError, match=r"pick: examples come from .* fewshot.on_eval_split=error refuses"):
        table_task(path, fewshot=FewshotConfig(n=1, split="test", on_eval_split="error"))
