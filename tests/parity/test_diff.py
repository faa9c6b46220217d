"""The comparison itself: it must see every kind of difference."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from .diff import TaskDiff, bound, compare_task

Change = Callable[[dict[str, Any], dict[str, Any]], object]

SCORED: dict[str, Any] = {
    "doc_id": 3,
    "doc": {"question": "Which is green?"},
    "target": "1",
    "arguments": {"gen_args_0": {"arg_0": "Q", "arg_1": " sky"}, "gen_args_1": {"arg_0": "Q", "arg_1": " leaf"}},
    "resps": [[["-4.5", "False"]], [["-2.25", "True"]]],
    "filtered_resps": [["-4.5", "False"], ["-2.25", "True"]],
    "filter": "none",
    "metrics": ["acc", "perplexity"],
    "doc_hash": "d",
    "prompt_hash": "p",
    "target_hash": "t",
    "acc": 1.0,
    "perplexity": -2.25,
}
WRITTEN: dict[str, Any] = {
    **SCORED,
    "arguments": {"gen_args_0": {"arg_0": "Q", "arg_1": {"until": ["\n"]}}},
    "resps": [["leaf"]],
    "filtered_resps": ["leaf"],
}
RESULTS: dict[str, Any] = {
    "results": {
        "toy": {"alias": "toy", "sample_len": 1, "acc,none": 1.0, "acc_stderr,none": "N/A", "perplexity,none": 9.5}
    },
    "versions": {"toy": 1.0},
    "n-shot": {"toy": 0},
    "higher_is_better": {"toy": {"acc": True}},
    "n-samples": {"toy": {"original": 9, "effective": 1}},
}


def compare(row: dict[str, Any], change: Change) -> TaskDiff:
    """A toy task against itself, changed on our side."""
    our_row, our_results = copy.deepcopy(row), copy.deepcopy(RESULTS)
    change(our_row, our_results)
    return compare_task("toy", rows=([row], [our_row]), results=(RESULTS, our_results))


def set_sums(row: dict[str, Any], sums: tuple[float, float]) -> None:
    row["resps"] = [[[str(value), reply[0][1]]] for value, reply in zip(sums, row["resps"], strict=True)]
    row["filtered_resps"] = [reply[0] for reply in row["resps"]]


@pytest.mark.parametrize("row", [SCORED, WRITTEN], ids=["scored", "written"])
def test_equal_to_itself(row: dict[str, Any]) -> None:
    diff = compare(row, lambda row, results: row.update(shots=[4, 5]))
    assert (diff.findings, diff.docs, diff.over_bound) == ((), 1, 0)


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        pytest.param(lambda row, _: row.update(prompt_hash="x"), "prompt", id="prompt hash"),
        pytest.param(lambda row, _: row["arguments"]["gen_args_1"].update(arg_1="leaf"), "prompt", id="continuation"),
        pytest.param(lambda row, _: row["doc"].update(question="?"), "prompt", id="document"),
        pytest.param(lambda row, _: row.update(target="0"), "target", id="target"),
        pytest.param(lambda row, _: set_sums(row, (-4.5, -2.2489)), "logprob", id="past the hard limit"),
        pytest.param(lambda row, _: set_sums(row, (-4.5, float("nan"))), "logprob", id="not a number"),
        pytest.param(lambda row, _: set_sums(row, (-2.0, -2.25)), "choice", id="arg-max"),
        pytest.param(lambda row, _: row["resps"][0][0].__setitem__(1, "True"), "choice", id="greedy flag"),
        pytest.param(lambda row, _: row["resps"].pop(), "schema", id="a reply missing"),
        pytest.param(lambda row, _: row.pop("doc_hash"), "schema", id="a field missing"),
        pytest.param(lambda row, _: row.update(acc=0.0), "score", id="score"),
        pytest.param(lambda row, _: row.update(filter="other"), "row", id="another filter"),
        pytest.param(lambda _, results: results["results"]["toy"].update({"acc,none": 0.999}), "result", id="mean"),
        pytest.param(lambda _, results: results["results"]["toy"].pop("acc_stderr,none"), "result", id="no error"),
        pytest.param(lambda _, results: results["results"]["toy"].update({"f1,none": 0}), "result", id="one too many"),
        pytest.param(lambda _, results: results["n-shot"].update(toy=5), "result", id="shots"),
    ],
)
def test_sees(change: Change, kind: str) -> None:
    assert kind in compare(SCORED, change).counts()


def test_sees_another_text() -> None:
    assert compare(WRITTEN, lambda row, _: row.update(resps=[["leaf "]])).counts() == {"text": 1}


def test_counts_what_is_over_the_bound_but_under_the_limit() -> None:
    diff = compare(SCORED, lambda row, _: set_sums(row, (-4.5, -2.2505)))
    assert (diff.findings, diff.over_bound) == ((), 1)
    assert diff.worst == pytest.approx(5e-4)


def test_perplexity_may_move_as_its_sums_do() -> None:
    def move(row: dict[str, Any], results: dict[str, Any]) -> None:
        set_sums(row, (-4.5, -2.25 - 4e-5))
        results["results"]["toy"]["perplexity,none"] *= 1 + 4e-5

    assert compare(SCORED, move).findings == ()
    assert compare(SCORED, lambda _, results: move(SCORED.copy(), results)).counts() == {"result": 1}


@pytest.mark.parametrize(("logprob", "expected"), [(-1.0, 1e-4), (-500.0, 1e-3)], ids=["short", "long"])
def test_bound(logprob: float, expected: float) -> None:
    assert bound(logprob) == pytest.approx(expected)
