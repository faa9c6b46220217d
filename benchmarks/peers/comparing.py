"""Do two programs say the same of the same documents?"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.peers.bounds import Verdict
from benchmarks.peers.order import ANSWERS, RUN
from benchmarks.peers.processes import Outcome
from tests.parity.diff import (
    Finding,
    Row,
    close,
    compare_task,
    differ,
    first_max,
    flags,
    flat,
    logprobs,
    read_results,
    read_samples,
)

LEAKING = "an example was the document itself, and we put another in its place"
TOO_LONG = "cut to fit the window, which lighteval counts in another way"
ASKED = ("row", "prompt", "target", "schema")
"""Kinds of findings about what was asked; all others are about what was answered."""
SHOWN = 3
LIGHTEVAL_LIMIT = 1e-2
"""Nats: lighteval pads and sums in its own way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How the answers of two programs compare."""

    docs: int
    skipped: int
    """Documents that both treat in their own way, and that are not compared: `reason`."""
    reason: str
    worst: float | None
    """Largest difference between two log-likelihoods, in nats; None where there are none."""
    counts: Mapping[str, int]
    """Kind of finding → how many."""
    first: tuple[str, ...]

    def differing(self, *, asked: bool) -> int:
        return sum(count for kind, count in self.counts.items() if (kind in ASKED) == asked)


def compare_with_lm_eval(theirs: Outcome, ours: Outcome) -> Agreement:
    """From the results and samples files of both."""
    task, folder = ours.order.task, ours.folder / RUN
    results = read_results(theirs.folder), read_results(folder)
    rows = read_samples(theirs.folder, task), read_samples(folder, task)
    leaking = leaks(*rows, replaced=results[1]["hydra_eval"]["fewshot"][task]["replaced"])
    kept = tuple([row for row in side if row["doc_id"] not in leaking] for side in rows)
    diff = compare_task(task, rows=(kept[0], kept[1]), results=results)
    # Whoever leaves documents out cannot compare the scores over all of them.
    findings = [one for one in diff.findings if not (leaking and one.kind == "result")]
    return _agreement(findings, docs=diff.docs, skipped=len(leaking), reason=LEAKING, worst=diff.worst)


def leaks(theirs: Iterable[Row], ours: Iterable[Row], *, replaced: int) -> set[int]:
    """Documents whose prompts differ, where that many examples were replaced; else none, and they are differences."""
    hashes = {row["doc_id"]: row["prompt_hash"] for row in theirs}
    differing = {row["doc_id"] for row in ours if hashes.get(row["doc_id"], row["prompt_hash"]) != row["prompt_hash"]}
    return differing if len(differing) <= replaced else set()


def compare_with_lighteval(theirs: Outcome, ours: Outcome) -> Agreement:
    """By prompt: lighteval does not number its documents as we do."""
    answers = json.loads((theirs.folder / ANSWERS).read_text(encoding="utf-8"))
    there = {row["prompt"]: row for row in answers["rows"]}
    rows = read_samples(ours.folder / RUN, ours.order.task)
    here = {row["arguments"]["gen_args_0"]["arg_0"]: row for row in rows}
    cut = {prompt for prompt, row in here.items() if any(row["cut_tokens"])}
    lone = sorted(there.keys() ^ here.keys())
    findings = [Finding("row", prompt[-80:], prompt in there, prompt in here) for prompt in lone]
    both = [(there[prompt], row) for prompt, row in here.items() if prompt in there and prompt not in cut]
    findings += [finding for pair in both for finding in _differences(*pair)]
    scores = read_results(ours.folder / RUN)["results"][ours.order.task]
    if not cut:
        findings += differ("result", "acc", round(answers["scores"]["acc"], 9), round(scores["acc,none"], 9))
    gaps = [abs(a - b) for theirs_, ours_ in both for a, b in zip(theirs_["sums"], _sums(ours_), strict=False)]
    return _agreement(findings, docs=len(both), skipped=len(cut), reason=TOO_LONG, worst=max(gaps, default=None))


def _differences(theirs: Mapping[str, Any], ours: Row) -> Iterator[Finding]:
    where = f"doc {ours['doc_id']}"
    asked = [pair["arg_1"] for pair in ours["arguments"].values()]
    yield from differ("prompt", f"{where} choices", theirs["choices"], asked)
    for number, (a, b) in enumerate(zip(theirs["sums"], _sums(ours), strict=False)):
        if not close(a, b, absolute=LIGHTEVAL_LIMIT):
            yield Finding("logprob", f"{where} request {number}", a, b)
    yield from differ("choice", f"{where} arg-max", first_max(theirs["sums"]), first_max(_sums(ours)))
    greedy = [str(flag) for flag in theirs["is_greedy"]]
    yield from differ("choice", f"{where} is_greedy", greedy, flags(flat(ours["resps"])))


def _sums(row: Row) -> list[float]:
    return logprobs(flat(row["resps"]))


def _agreement(findings: Iterable[Finding], **fields: Any) -> Agreement:
    """`fields`: all others of an agreement."""
    listed = list(findings)
    return Agreement(
        **fields,
        counts=dict(Counter(one.kind for one in listed)),
        first=tuple(f"{one.where}: {one.theirs!r:.120} | {one.ours!r:.120}" for one in listed[:SHOWN]),
    )


def of_answers(agreements: Mapping[int, Agreement], *, answers: str) -> Iterator[Verdict]:
    """Bounds on what was said, by the peer's smallest batch size: padding moves a larger one's last bits, and near
    ties with them. `answers`: what is to be equal, in words."""
    if not agreements:
        return
    batch = min(agreements)
    one = agreements[batch]
    skipped = f"; {one.skipped} not compared ({one.reason})" if one.skipped else ""
    differing = ", ".join(f"{count} × {kind}" for kind, count in one.counts.items()) or "nothing differs"
    yield Verdict(
        bound="the same rows and prompts",
        holds=one.docs > 0 and not one.differing(asked=True),
        said=f"{one.docs} documents{skipped}; {differing}",
    )
    drift = [] if one.worst is None else [f"largest |Δ| {one.worst:.1e}"]
    others = [f"at batch size {size}: {dict(other.counts)}" for size, other in agreements.items() if other.counts]
    yield Verdict(
        bound=f"equal {answers}",
        holds=one.docs > 0 and not one.differing(asked=False),
        said="; ".join([*drift, f"{differing} (batch size {batch})", *(others if len(agreements) > 1 else [])]),
    )


def compared_with(peers: Iterable[Outcome], ours: Outcome | None, compare: Any) -> dict[int, Agreement]:
    """Batch size → agreement, for every peer whose samples are there: those of a run measured before may be gone."""
    if ours is None or ours.figures is None:
        return {}
    return {peer.order.batch or 1: compare(peer, ours) for peer in peers if peer.figures and has_samples(peer.folder)}


def has_samples(folder: Path) -> bool:
    return (folder / ANSWERS).exists() or any(folder.glob("*/samples_*"))
