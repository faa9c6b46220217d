"""A whole task's scores and errors beside lm-eval's, on the same replies: from its YAML to the numbers of the table."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from hydra_eval.instances import make_instances
from hydra_eval.results.aggregate import aggregate
from hydra_eval.scoring import Answered, score_documents

from ..toys import built, oracle_task, reply, write_task

evaluator_utils = pytest.importorskip("lm_eval.evaluator_utils", reason="needs the parity extra: lm_eval")

pytestmark = pytest.mark.parity

REPLIES = [
    "The cat sat on the mat.",
    " a dog barked\nat night",
    "",
    "It rained all day , and all night .",
    "No idea",
    "Rain fell.",
]
ROWS = [
    {"question": f"Sentence {number}?", "one": one, "several": [one, other], "label": number % 2}
    for number, (one, other) in enumerate(
        [
            ("The cat sat on the mat.", "A cat was on the mat."),
            ("a dog barked at night", "at night a dog barked"),
            ("Nothing was said.", "Silence."),
            ("It rained all day and all night.", "All day it rained."),
            ("no idea", "I do not know"),
            ("Snow fell on the roof.", "There was snow."),
        ]
    )
]
GENERATE = {
    "task": "toy",
    "dataset_path": "json",
    "dataset_kwargs": {"data_files": {"test": "test.jsonl"}},
    "test_split": "test",
    "doc_to_text": "question",
    "doc_to_target": "one",
    "filter_list": [
        {"name": "raw", "filter": [{"function": "take_first"}]},
        {"name": "plain", "filter": [{"function": "remove_whitespace"}, {"function": "majority_vote"}]},
    ],
}
RESAMPLES = 2000
CORPUS = [{"metric": name} for name in ("bleu", "chrf", "chrf++", "ter")]
HOOKS = """
def pairs(doc, results):
    return {"bleu": (doc["several"], results[0]), "chrf": (doc["one"], results[0]), "extra": len(results[0])}

def texts(items):
    golds, replies = zip(*items)
    return sum(gold[0] == reply[:1] for gold, reply in zip(golds, replies)) / len(golds)

def length(references, predictions, unit=1, **kwargs):
    return len(predictions[0]) / unit

def two(references, predictions):
    return {"starts": float(predictions[0][:1] == references[0][:1]), "words": len(predictions[0].split())}
"""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "own",
    [
        pytest.param({"metric_list": CORPUS, "filter_list": GENERATE["filter_list"][:1]}, id="translation"),
        pytest.param({"metric_list": CORPUS, "filter_list": GENERATE["filter_list"][1:]}, id="lists_of_one_reply"),
        pytest.param(
            {
                "metric_list": [*CORPUS[:2], {"metric": "extra", "aggregation": "mean"}],
                "process_results": "!function hooks.pairs",
                "filter_list": GENERATE["filter_list"][:1],
            },
            id="pairs_of_process_results",
        ),
        pytest.param(
            {
                "metric_list": [
                    {"metric": "exact_match", "ignore_case": True, "ignore_punctuation": True},
                    {"metric": "f1", "aggregation": "!function hooks.texts", "higher_is_better": True},
                    {"metric": "!function hooks.length", "aggregation": "median", "unit": 2, "higher_is_better": False},
                    {"metric": "!function hooks.two", "aggregation": "mean", "higher_is_better": True},
                ],
                "filter_list": GENERATE["filter_list"][:1],
            },
            id="own_functions",
        ),
        pytest.param(
            {
                "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
                "doc_to_target": "several",
                "filter_list": GENERATE["filter_list"][:1],
            },
            id="several_targets",
        ),
    ],
)
def test_scores_and_errors(tmp_path: Path, own: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISABLE_MULTIPROC", "1")
    (tmp_path / "hooks.py").write_text(HOOKS, encoding="utf-8")
    path = write_task(tmp_path, {**GENERATE, **own}, test=ROWS)
    assert ours(tmp_path) == pytest.approx(theirs(path), rel=1e-12, abs=1e-12)


def ours(folder: Path) -> dict[str, float]:
    (task,) = built(folder)
    answered = []
    for doc, text in zip(task.docs, REPLIES, strict=True):
        (instance,) = make_instances(task, doc, "?", chat=False)
        answered.append(Answered(doc, (), [reply(instance, text=text)]))
    found = aggregate(task, score_documents(task, answered), bootstrap=RESAMPLES)
    values = {f"{result.metric},{result.filter}": result.value for result in found.metrics}
    errors = {f"{result.metric}_stderr,{result.filter}": result.stderr for result in found.metrics}
    return values | {key: error for key, error in errors.items() if error is not None}


def theirs(path: Path) -> dict[str, float]:
    task = oracle_task(path)
    task._instances = [task.construct_requests(doc=doc, ctx="?", metadata=("toy", 0, 1)) for doc in task.eval_docs]
    for instance, text in zip(task._instances, REPLIES, strict=True):
        instance.resps = [text]
    task.apply_filters()
    raw: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for pipeline in task._instances[0].filtered_resps:
        for doc, instance in zip(task.eval_docs, task._instances, strict=True):
            for metric, value in task.process_results(doc, [instance.filtered_resps[pipeline]]).items():
                raw[metric, pipeline].append(value)
    found, _ = evaluator_utils._compute_task_aggregations(task, raw, RESAMPLES)
    return {key: value for key, value in found.items() if value != "N/A"}
