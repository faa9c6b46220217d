from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hydra_eval.commands.validate import CHECKS, Verdict, specs_and_overrides, validate
from hydra_eval.commands.verdicts import messages, table
from tests.toy_tasks import CHOICE, GENERATION, write_task

HOOKS = """
def fails_on_empty(doc, results):
    return {"length": 1 / len(results[0])}
"""


def verdict_of(spec: str) -> Verdict:
    (verdict,) = validate([spec], ["model=dummy"])
    return verdict


def test_a_good_task_passes_every_check(tasks: Path) -> None:
    verdict = verdict_of("choice")
    assert (verdict.passed, verdict.errors) == (CHECKS, {})


def filtered(function: str) -> dict[str, Any]:
    return {"filter_list": [{"name": "f", "filter": [{"function": function}]}]}


@pytest.mark.parametrize(
    ("check", "keys", "message"),
    [
        ("syntax", {**CHOICE, "doc_to_txt": "x"}, "unknown key 'doc_to_txt'. Did you mean 'doc_to_text'?"),
        (
            "required fields",
            {**CHOICE, "doc_to_choice": None},
            "doc_to_choice missing; a multiple_choice task needs it",
        ),
        ("hooks", {**CHOICE, "process_docs": "!function gone.fn"}, "wants the file"),
        ("filters", {**GENERATION, **filtered("takefirst")}, "unknown filter 'takefirst'. Did you mean 'take_first'"),
        ("metrics", {**CHOICE, "metric_list": [{"metric": "accu"}]}, "unknown metric of multiple_choice 'accu'"),
        ("data access", {**CHOICE, "dataset_kwargs": {"data_files": {"test": "gone.jsonl"}}}, "gone.jsonl"),
        ("templates", {**CHOICE, "doc_to_text": "{{title}}"}, "'title' is undefined"),
        ("scores", {**GENERATION, "process_results": "!function hooks.fails_on_empty"}, "ZeroDivisionError"),
    ],
    ids=lambda value: value if isinstance(value, str) and value in CHECKS else "",
)
def test_each_check_finds_its_fault(check: str, keys: dict[str, Any], message: str, tasks: Path) -> None:
    (tasks / "hooks.py").write_text(HOOKS, encoding="utf-8")
    write_task(tasks, "wrong", 4, **keys)
    verdict = verdict_of("wrong")
    assert list(verdict.errors) == [check]
    assert message in verdict.errors[check]
    assert set(verdict.passed) < set(CHECKS)


def test_a_name_that_nobody_has_does_not_exist(tasks: Path) -> None:
    verdict = verdict_of("chioce")
    assert (verdict.passed, list(verdict.errors)) == ((), ["existence"])
    assert "Did you mean 'choice'" in verdict.errors["existence"]


def test_a_file_that_cannot_be_read_exists(tasks: Path) -> None:
    (tasks / "torn.yaml").write_text("task: [torn\n", encoding="utf-8")
    verdict = verdict_of("torn")
    assert (verdict.passed, list(verdict.errors)) == (("existence",), ["syntax"])
    assert "line 2" in verdict.errors["syntax"]


def test_a_row_that_lacks_a_column_is_found_among_the_first(tasks: Path) -> None:
    write_task(tasks, "gap", 4)
    rows = [json.loads(line) for line in (tasks / "gap_test.jsonl").read_text(encoding="utf-8").splitlines()]
    rows[2]["question"] = None
    (tasks / "gap_test.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    write_task(tasks / "more", "other", 1, **{**CHOICE, "doc_to_text": "{{question.strip()}}"})
    path = tasks / "gap.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("{{question}}", "{{question.strip()}}"), encoding="utf-8")
    assert "document 2" in verdict_of("gap").errors["templates"]


def test_one_bad_task_does_not_hide_the_good_ones(tasks: Path) -> None:
    found = list(validate(["nobody", "choice", "reply"], ["model=dummy"]))
    assert [(verdict.task, bool(verdict.errors)) for verdict in found] == [
        ("nobody", True),
        ("choice", False),
        ("reply", False),
    ]
    assert list(messages(found))[-1] == "3 tasks checked, 1 with errors."
    assert table(found).row_count == 3


@pytest.mark.parametrize("spec", ["both", "[cr]*", "both|1"], ids=["group", "pattern", "shots"])
def test_what_stands_for_several_tasks_has_a_verdict_for_each(spec: str, tasks: Path) -> None:
    (tasks / "both.yaml").write_text("group: both\ntask: [choice, {task: reply, num_fewshot: 1}]\n", encoding="utf-8")
    found = [verdict for verdict in validate([spec], ["model=dummy"]) if verdict.task in ("choice", "reply")]
    assert [(verdict.task, verdict.passed) for verdict in found] == [("choice", CHECKS), ("reply", CHECKS)]


def test_a_hook_that_ends_the_program_ends_no_check(tasks: Path) -> None:
    (tasks / "hooks.py").write_text("import sys\n\n\ndef leaves(rows):\n    sys.exit(0)\n", encoding="utf-8")
    write_task(tasks, "leaves", 2, **CHOICE, process_docs="!function hooks.leaves")
    assert "SystemExit: 0" in verdict_of("leaves").errors["templates"]


@pytest.mark.parametrize(
    ("spec", "message"),
    [("choice|two", "'two' after the bar must be a number of shots"), ("${x}", "has no place in a name")],
    ids=["shots", "interpolation"],
)
def test_a_spec_that_cannot_be_read_does_not_hide_the_good_ones(spec: str, message: str, tasks: Path) -> None:
    bad, good = validate([spec, "choice"], ["model=dummy"])
    assert message in bad.errors["existence"]
    assert good.errors == {}


def test_tasks_and_overrides_are_told_apart() -> None:
    given = ["task=gsm8k", "aime@k=4|0", "mytasks/a.yaml", "limit=3", "data.root=/x"]
    assert specs_and_overrides(given) == (["gsm8k", "aime@k=4|0", "mytasks/a.yaml"], ["limit=3", "data.root=/x"])
