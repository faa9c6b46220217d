from __future__ import annotations

import logging
from dataclasses import replace

import pytest
from rich.table import Table

from hydra_eval.fewshot import Picks
from hydra_eval.results.report import Results
from hydra_eval.results.tables import results_table
from hydra_eval.screen import Screen, describe_picks, describe_task

from .toys import docs_of, shot_plan, toy_task

THREE = "3 examples were the document itself; others stand in their place."


class Full:
    """A stream that takes nothing."""

    encoding = "utf-8"

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def write(self, text: str) -> int:
        raise self.error

    def flush(self) -> None:
        raise self.error


@pytest.mark.parametrize(
    "error",
    [OSError("no space"), SystemExit(1), ValueError("closed")],
    ids=["full disk", "broken pipe", "closed stream"],
)
def test_what_stdout_cannot_take_is_a_warning(
    error: BaseException, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("sys.stdout", Full(error))
    with caplog.at_level(logging.WARNING):
        Screen(shown=True).show_table(results_table(Results()))
    assert "the run folder holds everything" in caplog.text


@pytest.mark.parametrize("error", [BrokenPipeError(), OSError("no space"), ValueError("closed")], ids=repr)
def test_progress_that_nobody_reads_ends_nothing(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", Full(error))
    moved = []
    with Screen(shown=True).counting("data sets", 9) as advance:
        moved = [advance() for _ in range(9)]
    assert len(moved) == 9


@pytest.mark.parametrize("name", ["[bold]", "a[x]", ":cat:", "[/]"])
def test_a_name_is_shown_letter_by_letter(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    Screen(shown=True).show_table(Table(name))
    assert f" {name} " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("total", "shown", "told"),
    [(5, True, True), (4, True, False), (5, False, False)],
    ids=["many", "few", "other rank"],
)
def test_a_bar_stands_over_more_than_a_few(
    capsys: pytest.CaptureFixture[str], total: int, shown: bool, told: bool
) -> None:
    with Screen(shown=shown).counting("data sets", total) as advance:
        for _ in range(total):
            advance()
    assert (f"{total}/{total}" in capsys.readouterr().err) is told


@pytest.mark.parametrize(
    ("replaced", "shown", "lines"),
    [
        (0, (2, 2, 2), []),
        (1, (2, 2, 2), ["1 example was the document itself; another stands in its place."]),
        (3, (2, 2, 1), [THREE, "1 document has fewer examples than 2: 1, all that there are for them."]),
        (0, (0, 2, 1), ["2 documents have fewer examples than 2: 0 to 1, all that there are for them."]),
    ],
    ids=["as asked", "replaced", "one short", "two short"],
)
def test_says_which_examples_are_not_as_asked(replaced: int, shown: tuple[int, ...], lines: list[str]) -> None:
    docs = docs_of([{"n": place} for place in range(3)])
    task = toy_task(docs=docs, all_docs=docs, shots=shot_plan(docs, n=2))
    picks = Picks(
        shots=tuple(tuple(docs[:count]) for count in shown), replaced=replaced, short=sum(count < 2 for count in shown)
    )
    assert describe_picks(task, picks) == lines


def test_one_document_and_one_shot_are_no_plural() -> None:
    docs = docs_of([{"n": 0}, {"n": 1}])
    task = toy_task(docs=docs[:1], all_docs=docs[:1], shots=shot_plan(docs, n=1))
    assert describe_task(task).startswith("1 document, 1 shot from")
    assert describe_task(replace(task, all_docs=docs)).startswith("1 of 2 documents, 1 shot from")
