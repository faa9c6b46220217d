from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from hydra_eval.prompts.overflow import Overflow, cut_line, overflow_facts
from hydra_eval.screen import Screen

from ..program import results_in, run_alone, run_program, samples_in
from ..toy_tasks import write_task
from ..trackers.rows import generation_row
from ..trackers.wandb_reader import offline_runs

NONE: dict[str, Any] = {
    "policy": ["cut_left"],
    "documents": 0,
    "documents_with_fewer_shots": 0,
    "shots_dropped": 0,
    "documents_cut": 0,
    "tokens_cut": 0,
    "documents_skipped": 0,
    "skipped": [],
}


def test_a_task_whose_prompts_fit_has_zeros() -> None:
    assert overflow_facts(Overflow(), [generation_row(0), generation_row(1)]) == NONE


def test_a_document_counts_once_whatever_happened_to_it() -> None:
    """Document 0 lost two examples, document 1 all of them and then tokens, document 9 is not there."""
    cut = [generation_row(1, filter=name, cut_tokens=(3, 4)) for name in ("strict", "loose")]
    overflow = Overflow(policies=("drop_shots", "cut_left", "skip"), dropped={0: 2, 1: 5}, skipped=(9,))
    assert overflow_facts(overflow, [generation_row(0), *cut]) == {
        "policy": ["drop_shots", "cut_left", "skip"],
        "documents": 3,
        "documents_with_fewer_shots": 2,
        "shots_dropped": 7,
        "documents_cut": 1,
        "tokens_cut": 7,
        "documents_skipped": 1,
        "skipped": [9],
    }


@pytest.mark.parametrize(
    ("policies", "cut", "line"),
    [
        (("cut_left",), 0, None),
        (("cut_left",), 5, "1 of 3 documents had prompts cut on the left, 5 tokens. prompt.overflow offers drop_shots"),
        (("drop_shots", "cut_left"), 5, "1 of 3 documents had prompts cut on the left, 5 tokens."),
        (("cut_middle", "skip"), 5, "1 of 3 documents had prompts cut in the middle, 5 tokens."),
    ],
    ids=["nothing cut", "by default", "on the left", "in the middle"],
)
def test_what_is_told_of_cuts(
    policies: tuple[str, ...], cut: int, line: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    rows = [generation_row(0, cut_tokens=(cut,)), generation_row(1), generation_row(2)]
    facts = overflow_facts(Overflow(policies=policies), rows)
    told = cut_line(facts, documents=3)
    assert told == line if line is None else told is not None and told.startswith(line)
    with caplog.at_level(logging.INFO):
        Screen(shown=True).say_cuts({"capitals": facts}, {"capitals": rows})
    levels = [record.levelno for record in caplog.records]
    assert levels == ([] if line is None else [logging.WARNING if policies == ("cut_left",) else logging.INFO])


@pytest.mark.parametrize(
    ("overflow", "lines"),
    [
        (Overflow(), []),
        (Overflow(dropped={3: 2, 4: 1}), ["2 prompts were too long and show 3 fewer examples."]),
        (Overflow(dropped={3: 1}), ["1 prompt was too long and shows 1 fewer example."]),
        (Overflow(skipped=(4,)), ["1 document is too long and left out: 4."]),
        (Overflow(skipped=(1, 2)), ["2 documents are too long and left out: 1, 2."]),
        (
            Overflow(skipped=tuple(range(30))),
            ["30 documents are too long and left out: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, …"],
        ),
    ],
    ids=["nothing", "dropped", "one dropped", "one skipped", "skipped", "many skipped"],
)
def test_what_is_told_before_the_model_loads(overflow: Overflow, lines: list[str]) -> None:
    assert list(overflow.lines()) == lines


# --- the real program: questions of 3 to 7 tokens, choices of one or two ---


@pytest.mark.multiprocess
def test_what_was_too_long_is_in_every_file_and_the_same_on_two_processes(tmp_path: Path) -> None:
    write_task(tmp_path / "tasks", "seven", 7)
    what = (
        "task=seven",
        f"hydra.searchpath=[tasks://{tmp_path / 'tasks'}]",
        "model=dummy",
        "model.max_length=7",
        "fewshot.n=2",
        "prompt.overflow=[drop_shots,skip]",
    )
    one = run_alone(*what, "tracker.mode=offline", "hydra.run.dir=one", cwd=tmp_path)
    two = run_program(*what, "tracker=none", "hydra.run.dir=two", processes=2, cwd=tmp_path)
    assert (one.returncode, two.returncode) == (0, 0), one.stderr + two.stderr
    assert samples_in(tmp_path / "one") == samples_in(tmp_path / "two")
    results, theirs = (results_in(tmp_path / name) for name in ("one", "two"))
    facts = results["hydra_eval"]["overflow"]["seven"]
    assert facts == theirs["hydra_eval"]["overflow"]["seven"]
    assert (facts["skipped"], facts["shots_dropped"], facts["documents"]) == ([4], 12, 7)
    lines = [json.loads(line) for line in (tmp_path / "one" / "samples_seven.jsonl").read_text().splitlines()]
    assert [line["doc_id"] for line in lines] == [0, 1, 2, 3, 5, 6]
    assert {(line["shots_requested"], line["shots_used"]) for line in lines} == {(2, 0)}
    assert results["n-samples"]["seven"] == {"original": 7, "effective": 6}
    assert results["results"]["seven"]["sample_len"] == 6
    (run,) = offline_runs(tmp_path / "one")
    assert (run.summary["seven/n"], run.summary["seven/overflow/documents_skipped"]) == (6, 1)
    assert "seven: 1 document is too long and left out: 4." in one.stderr
