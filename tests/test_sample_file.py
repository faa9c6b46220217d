from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hydra_eval.fewshot import pick_shots
from hydra_eval.instances import make_instances
from hydra_eval.prompts.render import render_prompt
from hydra_eval.prompts.style import Style
from hydra_eval.records import RequestKind, Response, SampleRow
from hydra_eval.results.aggregate import aggregate, merge_rows
from hydra_eval.sample_file import as_plain, digest, doc_hash, sample_line, sample_record, task_hash
from hydra_eval.scoring import Answered, score_documents
from hydra_eval.tasks.task import Task

from .results.test_aggregate import row
from .toys import CHOICE, built, data_sets_prepared_in, oracle_task, write_task

OURS = ["shots", "shots_requested", "shots_used", "input_tokens", "output_tokens", "cut_tokens", "finish_reasons"]
"""Fields that lm-eval has not."""


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with data_sets_prepared_in(tmp_path_factory.mktemp("datasets")):
        yield


def test_lm_evals_fields_come_first_then_the_metrics_then_ours() -> None:
    assert list(sample_record(row(0, acc=1.0, f1=(0, 1)))) == [
        "doc_id",
        "doc",
        "target",
        "arguments",
        "resps",
        "filtered_resps",
        "filter",
        "metrics",
        "doc_hash",
        "prompt_hash",
        "target_hash",
        "acc",
        "f1",
        *OURS,
    ]


def test_ids_come_last_where_they_are_logged() -> None:
    record = sample_record(replace(row(0), input_ids=((5, 6), ())))
    assert list(record)[-1] == "input_ids" and record["input_ids"] == [[5, 6], []]


def test_reasoning_stands_where_there_is_any() -> None:
    assert "reasoning" not in sample_record(row(0))
    assert sample_record(replace(row(0), reasoning=("so</think>", None)))["reasoning"] == ["so</think>", None]


def test_replies_are_text_arguments_keep_their_types() -> None:
    kwargs = {"until": ["\n"], "max_gen_toks": 16}
    record = sample_record(replace(row(3), arguments=(("a", " b"), ("c", kwargs)), target=["x", 1]))
    assert record["arguments"] == {
        "gen_args_0": {"arg_0": "a", "arg_1": " b"},
        "gen_args_1": {"arg_0": "c", "arg_1": kwargs},
    }
    assert record["resps"] == [[["-1.0", "True"]]]
    assert record["filtered_resps"] == [["-1.0", "True"]]
    assert record["target"] == "['x', 1]"


def test_hashes_are_those_of_document_prompt_and_target() -> None:
    record = sample_record(replace(row(0), doc={"b": "é", "a": [1]}))
    assert record["doc_hash"] == hashlib.sha256('{\n  "b": "é",\n  "a": [\n    1\n  ]\n}'.encode()).hexdigest()
    assert record["prompt_hash"] == hashlib.sha256(b"context").hexdigest()
    assert record["target_hash"] == hashlib.sha256(b"0").hexdigest()


def test_a_line_is_one_line_in_the_texts_own_letters() -> None:
    line = sample_line(replace(row(0), doc={"text": "naïve\nzwei\u2028日本"}))
    assert "\n" not in line and "naïve" in line and "日本" in line
    assert json.loads(line)["doc"] == {"text": "naïve\nzwei\u2028日本"}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.float32(0.5), 0.5),
        (np.int64(3), 3),
        (np.bool_(True), True),
        (np.zeros(2), "[0. 0.]"),
        (1 + 2j, "(1+2j)"),
        ({7}, [7]),
    ],
)
def test_values_that_json_does_not_know(value: Any, expected: Any) -> None:
    assert as_plain(value) == expected
    assert type(as_plain(value)) is type(expected)


def test_a_tasks_hash_depends_on_every_row_and_their_order() -> None:
    rows = [row(0), replace(row(1), target=1)]
    joined = "".join(doc_hash(each.doc) + digest("context") + digest(str(each.target)) for each in rows)
    assert task_hash(rows) == digest(joined)
    assert task_hash(rows) != task_hash(rows[::-1])


# What a model might say, from a hash of what it is asked: the same on both sides.


def said(*asked: str) -> float:
    return int(digest("\0".join(asked))[:6], 16) / 2**24


def likelihood(context: str, continuation: str) -> tuple[float, bool]:
    return -10 * said(context, continuation), said(continuation, context) < 0.5


def answer(context: str) -> str:
    return ("green", "blue", " White.", "It is black.")[int(said(context) * 4)]


def our_response(instance: Any) -> Response:
    if instance.kind is RequestKind.GENERATE:
        return Response(key=instance.key, text=answer(instance.context))
    logprob, is_greedy = likelihood(instance.context, instance.continuation)
    return Response(key=instance.key, logprob=logprob, is_greedy=is_greedy)


def our_rows(task: Task) -> list[SampleRow]:
    shots = pick_shots(task).shots
    rows = []
    for doc in task.docs:
        instances = make_instances(task, doc, render_prompt(task, doc, shots[doc.index], Style()), chat=False)
        answered = [(each, our_response(each)) for each in instances]
        rows += score_documents(task, [Answered(doc, shots[doc.index], answered)])
    return merge_rows([rows], [task])


def their_lines(path: Path, folder: Path, *, n: int) -> tuple[list[str], dict[str, Any]]:
    """lm-eval's samples file and results of the same task, its model answering the same."""
    evaluator = pytest.importorskip("lm_eval.evaluator", reason="needs lm-evaluation-harness (extra: parity)")
    from lm_eval.api.model import LM
    from lm_eval.loggers import EvaluationTracker

    class Answering(LM):
        def loglikelihood(self, requests: Any) -> Any:
            return [likelihood(*request.args) for request in requests]

        def loglikelihood_rolling(self, requests: Any) -> Any:
            return [likelihood("", request.args[0])[0] for request in requests]

        def generate_until(self, requests: Any) -> Any:
            return [answer(request.args[0]) for request in requests]

    found = evaluator.evaluate(Answering(), {"tasks": {"toy": oracle_task(path, n=n)}}, bootstrap_iters=0)
    tracker = EvaluationTracker(output_path=str(folder))
    tracker.general_config_tracker.model_name_sanitized, tracker.date_id = "m", "now"
    tracker.save_results_samples("toy", found["samples"]["toy"])
    text = (folder / "m" / "samples_toy_now.jsonl").read_text(encoding="utf-8")
    return text.splitlines(), found["results"]["toy"]


GENERATE = {"output_type": "generate_until", "doc_to_choice": None, "doc_to_target": "colour"}
FILTERS = [
    {"name": "strict", "filter": [{"function": "take_first"}]},
    {
        "name": "flexible",
        "filter": [
            {"function": "regex", "regex_pattern": r"([a-z]+)\W*$", "group_select": -1},
            {"function": "take_first"},
        ],
    },
]
CASES: dict[str, Mapping[str, Any]] = {
    "multiple choice": {},
    "multiple choice, every metric": {
        "metric_list": [
            {"metric": name} for name in ("acc", "f1", "mcc", "acc_norm", "acc_bytes", "exact_match", "acc_mutual_info")
        ]
    },
    "several right choices": {"doc_to_target": "{{[label, 1]}}", "fewshot_config": {"doc_to_target": "label"}},
    "contexts per choice": {
        "doc_to_text": "label",
        "doc_to_choice": "{{[thing + ' is ' + colours[0], thing + ' is ' + colours[1]]}}",
        "doc_to_target": "in truth",
    },
    "likelihood": {"output_type": "loglikelihood", "doc_to_choice": None, "doc_to_target": " {{colour}}"},
    "rolling": {
        "output_type": "loglikelihood_rolling",
        "doc_to_choice": None,
        "doc_to_text": "",
        "doc_to_target": "{{thing}}, {{colour}}.",
    },
    "generation": GENERATE,
    "generation, two pipelines": {
        **GENERATE,
        "filter_list": FILTERS,
        "metric_list": [{"metric": "exact_match", "ignore_case": True}],
    },
    "generation, several targets": {**GENERATE, "doc_to_target": "colours"},
    "generation, repeats": {**GENERATE, "repeats": 2},
    "process_results": {**GENERATE, "process_results": "!function utils.score", "metric_list": [{"metric": "own"}]},
}


@pytest.mark.parity
@pytest.mark.parametrize("changes", CASES.values(), ids=CASES)
def test_lm_evals_samples_and_numbers(tmp_path: Path, changes: Mapping[str, Any]) -> None:
    (tmp_path / "utils.py").write_text(
        "def score(doc, results):\n    return {'own': len(results[0])}\n", encoding="utf-8"
    )
    own = {"aggregation": "mean", "higher_is_better": True}
    metric_list = [
        {**own, **metric} if metric["metric"] == "own" else metric for metric in changes.get("metric_list", [])
    ]
    path = write_task(tmp_path, {**CHOICE, **changes, **({"metric_list": metric_list} if metric_list else {})})
    (task,) = built(tmp_path, "toy|2")
    lines, results = their_lines(path, tmp_path / "out", n=2)
    rows = our_rows(task)
    ours = [json.loads(sample_line(each)) for each in rows]
    theirs = [json.loads(line) for line in lines]
    assert [{key: record[key] for key in record if key not in OURS} for record in ours] == theirs
    assert [list(record)[: -len(OURS)] for record in ours] == [list(record) for record in theirs]
    for metric in aggregate(task, rows, bootstrap=0).metrics:
        assert metric.value == pytest.approx(results[f"{metric.metric},{metric.filter}"], rel=1e-12)
