"""What a person is told of it: lines of a log, and the one warning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hydra_eval.errors import counted
from hydra_eval.numerics.figures import REPLIES, SCORED


def numerics_lines(content: Mapping[str, Any]) -> list[str]:
    """One line for the run, and of several tasks one for each where something came out otherwise."""
    tasks: Mapping[str, Any] = content["tasks"]
    odd = [task for task, found in tasks.items() if found["changed_documents"] or found["near_tie_documents"]]
    how = f"one by one in {content['dtype']}" + (f" ({content['why']})" if content["why"] else "")
    total = content["total"]
    asked = f"{counted(total['requests'], 'request')} of {counted(total['documents'], 'document')} again, {how}"
    lines = [f"{task}: {_described(tasks[task])}." for task in odd] if len(tasks) > 1 else []
    return [f"Numerics: {asked if total['requests'] else 'nothing again'}; {_described(total)}.", *lines]


def numerics_warning(content: Mapping[str, Any]) -> str | None:
    """Where a log-likelihood differs by more than it may."""
    found = [content["total"][kind] for kind in SCORED if kind in content["total"]]
    worst = max(found, key=lambda scores: scores["largest_drift"], default=None)
    if worst is None or worst["largest_drift"] <= content["most_drift"]:
        return None
    task, doc = worst["largest_drift_at"]
    return (
        f"A log-likelihood is {worst['largest_drift']:.2g} nats away from what its request gives alone in "
        f"{content['dtype']} ({task}, document {doc}); check.most_drift={content['most_drift']}. What hangs on less "
        "may come out otherwise with another batch size or on another device."
    )


def _described(found: Mapping[str, Any]) -> str:
    return ", ".join(_parts(found))


def _parts(found: Mapping[str, Any]) -> Iterator[str]:
    for name, picks in found.get("answers", {}).items():
        ties = f" ({counted(picks['near_ties'], 'near tie')})" if picks["near_ties"] else ""
        yield f"{picks['changed']} of {counted(picks['documents'], 'answer')} by {name} changed{ties}"
    for kind in SCORED:
        if kind in found:
            scores = found[kind]
            yield f"log-likelihoods drift by {scores['mean_drift']:.2g} nats, {scores['largest_drift']:.2g} at the most"
    if REPLIES in found:
        replies = found[REPLIES]
        start = f" (from token {replies['first_difference']} on)" if replies["changed"] else ""
        yield f"{replies['changed']} of {counted(replies['requests'], 'reply', 'replies')} changed{start}"
    if found["sampled"]:
        yield f"{counted(found['sampled'], 'sampled reply', 'sampled replies')} left out"
    if found["out_of_memory"]:
        yield f"{counted(found['out_of_memory'], 'request')} left out for want of memory"
