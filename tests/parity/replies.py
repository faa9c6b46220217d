"""The same made-up replies scored by both programs: filters, metrics, aggregation, standard errors."""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hydra_eval.pipeline import Work, score
from hydra_eval.records import Instance, RequestKind, Response
from hydra_eval.results.aggregate import aggregate
from hydra_eval.tasks.task import Task

from .patterns import example

BOOTSTRAP = 40
RELATIVE = 1e-9
FORMS = (
    "{}",
    " {}",
    "The answer is {}.",
    "So the final answer is: {}\nNext question",
    "The best answer is {}",
    "({})",
    "#### {}",
    "$\\boxed{{{}}}$",
    "**{}**",
    "Answer: {}\n\nQ: again?",
    "{0} or {0}",
    '{{"answer": "{}"}}',
    "```\n{}\n```",
    "[[{}]]",
    "",
    "no idea 42",
    "1,234.5 apples, or $7",
    "Ünrelated «text» 東京\n",
)
LETTERS = ("A", "B", "C", "D", "yes", "no", "true", "0", "1", "3")

Place = tuple[int, int, int]
"""Document, request, repeat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """What one program makes of the replies."""

    docs: Mapping[tuple[int, str], Mapping[str, Any]]
    """(document, filter) → name → value."""
    filtered: Mapping[tuple[int, str], Sequence[Any]]
    totals: Mapping[str, Any]
    """`metric,filter` and `metric_stderr,filter`, as in a results file."""


def draw(place: Any, salt: str) -> int:
    """0 … 65535, by place and salt alone."""
    return int.from_bytes(hashlib.sha256(f"{salt}|{place}".encode()).digest()[:2], "big")


def made_up(place: Place, request_type: str, hints: Sequence[str], texts: Sequence[str] = ()) -> Any:
    """A reply such as a model might give, right ones among them: one of `texts`, or words in some form."""
    if request_type == "generate_until":
        if texts and draw(place, "text") % 3 == 0:
            return f"Well. {texts[draw(place, 'which') % len(texts)]}\nSo"
        words = hints if hints and draw(place, "right") % 3 else LETTERS
        return FORMS[draw(place, "form") % len(FORMS)].format(words[draw(place, "word") % len(words)])
    logprob = -float(draw(place, "sum") % 97) / 4 - 0.125  # a few ties among choices
    return logprob if request_type == "loglikelihood_rolling" else (logprob, draw(place, "greedy") % 3 == 0)


def hints_of(task: Any, doc: Any) -> list[str]:
    """The right answer, as text: replies are made from it."""
    target = task.doc_to_target(doc)
    found = [target] if isinstance(target, str | int | float) else list(target) if isinstance(target, list) else []
    if task.config.doc_to_choice is not None:
        choices = task.doc_to_choice(doc)
        found += [choices[place] for place in found if isinstance(place, int) and place < len(choices)]
    return [str(one) for one in found]


def texts_for(task: Any) -> list[str]:
    """What the patterns of a task's own filters match, once and twice."""
    steps = [step for pipeline in task.config.filter_list or [] for step in pipeline["filter"]]
    patterns = [step["regex_pattern"] for step in steps if isinstance(step.get("regex_pattern"), str)]
    found = [example(pattern) for pattern in patterns]
    return [*found, *(f"{text} {text[::-1]} {text}" for text in found)]


# --- lm-eval ---


def their_scores(task: Any) -> tuple[Scored, dict[Place, Any]]:
    """lm-eval's own filters, `process_results` and aggregation on the requests it has built; and the replies."""
    from lm_eval.evaluator_utils import _compute_task_aggregations

    docs, texts = dict(task.doc_iterator()), texts_for(task)
    replies = {}
    for instance in task.instances:
        hints = hints_of(task, docs[instance.doc_id])
        places = [(instance.doc_id, instance.idx, repeat) for repeat in range(instance.repeats)]
        replies |= {place: made_up(place, instance.request_type, hints, texts) for place in places}
        instance.resps = [replies[place] for place in places]
        instance.filtered_resps = {}
    task.apply_filters()
    by_doc = defaultdict(list)
    for instance in sorted(task.instances, key=lambda instance: instance.idx):
        by_doc[instance.doc_id].append(instance)
    scores, filtered, raw = {}, {}, defaultdict(list)
    for key in task.instances[0].filtered_resps:
        for number, doc in task.doc_iterator():
            outputs = [instance.filtered_resps[key] for instance in by_doc[number]]
            filtered[number, key] = outputs
            scores[number, key] = task.process_results(doc, outputs)
            for metric, value in scores[number, key].items():
                raw[metric, key].append(value)
    totals, _ = _compute_task_aggregations(task, raw, BOOTSTRAP)
    return Scored(docs=scores, filtered=filtered, totals=totals), replies


# --- hydra-eval ---


def our_scores(task: Task, work: Work, replies: Mapping[Place, Any]) -> Scored:
    responses = [_response(instance, replies) for requests in work.requests_of.values() for instance in requests]
    rows = score(work, responses).rows
    result = aggregate(task, rows, bootstrap=BOOTSTRAP)
    totals = {}
    for metric in result.metrics:
        totals[f"{metric.metric},{metric.filter}"] = metric.value
        totals[f"{metric.metric}_stderr,{metric.filter}"] = "N/A" if metric.stderr is None else metric.stderr
    return Scored(
        docs={(row.doc_id, row.filter): row.scores for row in rows},
        filtered={(row.doc_id, row.filter): row.filtered_resps for row in rows},
        totals=totals,
    )


def _response(instance: Instance, replies: Mapping[Place, Any]) -> Response:
    reply = replies[instance.key.doc, instance.key.request, instance.key.repeat]
    if instance.kind is RequestKind.GENERATE:
        return Response(key=instance.key, text=reply)
    if instance.kind is RequestKind.ROLLING:
        return Response(key=instance.key, logprob=reply)
    return Response(key=instance.key, logprob=reply[0], is_greedy=reply[1])


# --- both ---


def differences(theirs: Scored, ours: Scored) -> Iterator[str]:
    """Where the two differ: filtered replies, values of a document, totals."""
    for name in ("filtered", "docs"):
        one, other = getattr(theirs, name), getattr(ours, name)
        for number, key in sorted(set(one) | set(other)):
            if not same(one.get((number, key)), other.get((number, key))):
                where = f"document {number}, filter {key}, {'scores' if name == 'docs' else 'filtered replies'}"
                yield f"{where}: lm-eval {one.get((number, key))!r:.150}, hydra-eval {other.get((number, key))!r:.150}"
    for key in sorted(set(theirs.totals) | set(ours.totals)):
        if not same(theirs.totals.get(key), ours.totals.get(key)):
            yield f"{key}: lm-eval {theirs.totals.get(key)!r:.80}, hydra-eval {ours.totals.get(key)!r:.80}"


def same(one: Any, other: Any) -> bool:
    """Equal, numbers to `RELATIVE`; tuples, lists and arrays alike."""
    one, other = _plain(one), _plain(other)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, int | float) and isinstance(other, int | float):
        both_nan = math.isnan(one) and math.isnan(other)
        return both_nan or math.isclose(one, other, rel_tol=RELATIVE, abs_tol=1e-12)
    return bool(one == other)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, tuple | set) else value
