"""Compare two folders of results and samples. Pure, but for reading the files at the end."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

Row = Mapping[str, Any]

HARD_LIMIT = 1e-3
"""Nats; no log-likelihood may differ by more."""
METRIC_LIMIT, SHARE_LIMIT = 1e-5, 1e-9
"""For numbers worked out from log-likelihoods (relative), and for shares of documents and their errors."""
SIDE_TABLES = ("versions", "n-shot", "higher_is_better", "n-samples")


class Finding(NamedTuple):
    """One difference."""

    kind: str
    """prompt, target, logprob, choice, text, score, result, schema or row."""
    where: str
    theirs: Any
    ours: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskDiff:
    """One task as both programs saw it."""

    task: str
    docs: int
    findings: tuple[Finding, ...]
    worst: float | None
    """Largest difference between two log-likelihoods, in nats; None where there are none."""
    over_bound: int
    """Log-likelihoods that differ by more than `bound`."""

    def counts(self) -> Counter[str]:
        return Counter(finding.kind for finding in self.findings)


def bound(logprob: float) -> float:
    """What float32 sums may differ by between two orders of addition, in nats."""
    return max(1e-4, 2e-6 * abs(logprob))


def is_generation(row: Row) -> bool:
    return isinstance(row["arguments"]["gen_args_0"].get("arg_1"), dict)


def logprobs(replies: Iterable[Any]) -> list[float]:
    """The sums in a list of replies: `[sum, is_greedy]` or, for whole texts, `sum`; both as text."""
    return [float(reply[0] if isinstance(reply, list) else reply) for reply in replies]


def flat(resps: Iterable[Iterable[Any]]) -> list[Any]:
    """Request × repeat → one list."""
    return [reply for repeats in resps for reply in repeats]


def differ(kind: str, where: str, theirs: Any, ours: Any) -> Iterator[Finding]:
    if theirs != ours:
        yield Finding(kind, where, theirs, ours)


def compare_texts(theirs: Row, ours: Row, where: str) -> Iterator[Finding]:
    yield from differ("text", f"{where} resps", theirs["resps"], ours["resps"])
    yield from differ("text", f"{where} filtered_resps", theirs["filtered_resps"], ours["filtered_resps"])


def compare_likelihoods(theirs: Row, ours: Row, where: str) -> Iterator[Finding]:
    """Sums within the hard limit, the same first choice among requests, the same greedy flags."""
    pairs = [(flat(theirs["resps"]), flat(ours["resps"])), (theirs["filtered_resps"], ours["filtered_resps"])]
    for their_replies, our_replies in pairs:
        their_sums, our_sums = logprobs(their_replies), logprobs(our_replies)
        yield from differ("schema", f"{where} replies", len(their_sums), len(our_sums))
        for i, (a, b) in enumerate(zip(their_sums, our_sums, strict=False)):
            if a != b and not abs(a - b) <= HARD_LIMIT:  # true for NaN, too
                yield Finding("logprob", f"{where} request {i}", a, b)
        yield from differ("choice", f"{where} arg-max", first_max(their_sums), first_max(our_sums))
        yield from differ("choice", f"{where} is_greedy", flags(their_replies), flags(our_replies))


def first_max(values: list[float]) -> int:
    return max(range(len(values)), key=values.__getitem__)


def flags(replies: Iterable[Any]) -> list[str]:
    return [reply[1] for reply in replies if isinstance(reply, list)]


def close(theirs: Any, ours: Any, *, relative: float = 0.0, absolute: float = 0.0) -> bool:
    """Equal, or two numbers (or lists of them, place by place) that are near each other."""
    if theirs == ours:
        return True
    if isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        return all(close(a, b, relative=relative, absolute=absolute) for a, b in zip(theirs, ours, strict=True))
    if not all(isinstance(value, int | float) for value in (theirs, ours)):
        return False
    both_nan = math.isnan(theirs) and math.isnan(ours)
    return both_nan or math.isclose(theirs, ours, rel_tol=relative, abs_tol=absolute)


def compare_rows(theirs: Row, ours: Row) -> Iterator[Finding]:
    """All differences between two lines of samples_<task>.jsonl for one document and filter."""
    where = f"doc {theirs['doc_id']} filter {theirs['filter']}"
    names = list(theirs)
    yield from differ("schema", f"{where} fields", names, list(ours)[: len(names)])
    for kind, fields in {
        "prompt": ("prompt_hash", "arguments", "doc", "doc_hash"),
        "target": ("target", "target_hash"),
        "score": ("metrics",),
    }.items():
        for field in fields:
            yield from differ(kind, f"{where} {field}", theirs[field], ours.get(field))
    yield from (compare_texts if is_generation(theirs) else compare_likelihoods)(theirs, ours, where)
    for name in theirs["metrics"]:
        if not close(theirs[name], ours.get(name), absolute=HARD_LIMIT):
            yield Finding("score", f"{where} {name}", theirs[name], ours.get(name))


def compare_results(theirs: Row, ours: Row, task: str, *, worst: float) -> Iterator[Finding]:
    """All differences between two results files as far as one task goes.

    A perplexity cannot be nearer than its log-likelihoods: exp turns `worst` nats into a relative gap of `worst`.
    """
    relative = max(METRIC_LIMIT, 2 * worst)
    their_entry, our_entry = theirs["results"][task], ours["results"].get(task, {})
    for key in sorted(set(their_entry) | set(our_entry)):
        their_value, our_value = their_entry.get(key), our_entry.get(key)
        limit = relative if key.startswith("perplexity") else SHARE_LIMIT
        if not close(their_value, our_value, relative=limit, absolute=SHARE_LIMIT):
            yield Finding("result", key, their_value, our_value)
    for table in SIDE_TABLES:
        yield from differ("result", table, theirs[table].get(task), ours.get(table, {}).get(task))


def gaps(theirs: Row, ours: Row) -> list[tuple[float, float]]:
    """Pairs of log-likelihoods, theirs first; nothing for replies in words."""
    if is_generation(theirs):
        return []
    return list(zip(logprobs(flat(theirs["resps"])), logprobs(flat(ours["resps"])), strict=False))


def compare_task(task: str, *, rows: tuple[Iterable[Row], Iterable[Row]], results: tuple[Row, Row]) -> TaskDiff:
    """`rows` and `results` are pairs: lm-eval's, then ours."""
    theirs, ours = ({(row["doc_id"], row["filter"]): row for row in side} for side in rows)
    findings = [Finding("row", str(key), key in theirs, key in ours) for key in sorted(set(theirs) ^ set(ours))]
    pairs = [(theirs[key], ours[key]) for key in sorted(set(theirs) & set(ours))]
    findings += [finding for pair in pairs for finding in compare_rows(*pair)]
    sums = [gap for pair in pairs for gap in gaps(*pair)]
    worst = max((abs(a - b) for a, b in sums), default=None)
    findings += compare_results(*results, task, worst=worst or 0.0)
    return TaskDiff(
        task=task,
        docs=len({doc_id for doc_id, _ in theirs}),
        findings=tuple(findings),
        worst=worst,
        over_bound=sum(abs(a - b) > bound(a) for a, b in sums),
    )


def only_file(folder: Path, *patterns: str) -> Path:
    files = [file for pattern in patterns for file in folder.glob(pattern)]
    if len(files) != 1:
        raise FileNotFoundError(f"{folder}: wanted one file like {' or '.join(patterns)}, found {len(files)}")
    return files[0]


def read_samples(folder: Path, task: str) -> list[Row]:
    """Lines of our `samples_<task>.jsonl`, or of lm-eval's `<model>/samples_<task>_<time>.jsonl`."""
    file = only_file(folder, f"samples_{task}.jsonl", f"*/samples_{task}_[0-9]*T*.jsonl")
    return [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line]


def read_results(folder: Path) -> Row:
    file = only_file(folder, "results.json", "*/results_[0-9]*T*.json")
    results: Row = json.loads(file.read_text(encoding="utf-8"))
    return results


def compare_folders(tasks: Iterable[str], *, theirs: Path, ours: Path) -> list[TaskDiff]:
    results = (read_results(theirs), read_results(ours))
    return [
        compare_task(task, rows=(read_samples(theirs, task), read_samples(ours, task)), results=results)
        for task in tasks
    ]
