"""What the second time changed over a whole run, as a results file holds it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from hydra_eval.numerics.compare import Checked, Pick
from hydra_eval.numerics.sample import Wanted
from hydra_eval.records import DocKey, RequestKind

REPLIES = RequestKind.GENERATE.value
SCORED = (RequestKind.LOGLIKELIHOOD.value, RequestKind.ROLLING.value)


def figures(checked: Iterable[Checked], wanted: Mapping[str, Wanted], *, near_tie: float) -> dict[str, Any]:
    """By task, and in total. The same for any order of `checked`."""
    by_task: dict[str, list[Checked]] = {task: [] for task in wanted}
    for one in sorted(checked, key=lambda one: (one.key, one.kind)):
        by_task[one.key.task].append(one)
    tasks = {
        task: _figures(found, wanted[task], near_tie) | _documents(found, near_tie) for task, found in by_task.items()
    }
    everything = [one for found in by_task.values() for one in found]
    total = Wanted(
        requests=sum(one.requests for one in wanted.values()), sampled=sum(one.sampled for one in wanted.values())
    )
    return {"tasks": tasks, "total": _figures(everything, total, near_tie)}


def _figures(checked: Sequence[Checked], wanted: Wanted, near_tie: float) -> dict[str, Any]:
    answered = sum(one.requests for one in checked)
    by_kind = {kind: [one for one in checked if one.kind == kind] for kind in (*SCORED, REPLIES)}
    picks: dict[str, list[Pick]] = defaultdict(list)
    for one in checked:
        for name, pick in one.picks.items():
            picks[name].append(pick)
    return {
        "documents": len({one.key for one in checked}),
        "requests": answered,
        "sampled": wanted.sampled,
        "out_of_memory": wanted.requests - answered,
        **({"answers": {name: _of_picks(of_name, near_tie) for name, of_name in picks.items()}} if picks else {}),
        **{kind: _of_scores(by_kind[kind]) for kind in SCORED if by_kind[kind]},
        **({REPLIES: _of_replies(by_kind[REPLIES])} if by_kind[REPLIES] else {}),
    }


def _of_picks(picks: Sequence[Pick], near_tie: float) -> dict[str, Any]:
    changed = sum(pick.changed for pick in picks)
    return {
        "documents": len(picks),
        "changed": changed,
        "share_changed": changed / len(picks),
        "near_ties": sum(pick.gap < near_tie for pick in picks),
    }


def _of_scores(checked: Sequence[Checked]) -> dict[str, Any]:
    drifts = [drift for one in checked for drift in one.drifts]
    worst = max(checked, key=lambda one: max(one.drifts))
    return {
        "requests": len(drifts),
        "largest_drift": max(drifts),
        "largest_drift_at": list(worst.key),
        "mean_drift": fmean(drifts),
        "greedy_changed": sum(one.greedy_changed for one in checked),
    }


def _of_replies(checked: Sequence[Checked]) -> dict[str, Any]:
    places = [place for one in checked for place in one.differs_at]
    requests = sum(one.requests for one in checked)
    return {
        "requests": requests,
        "changed": len(places),
        "share_changed": len(places) / requests,
        "first_difference": min(places, default=None),
    }


def _documents(checked: Sequence[Checked], near_tie: float) -> dict[str, list[int]]:
    """Numbers of those that a person may want to look at."""
    return {
        "changed_documents": _numbers(one.key for one in checked if one.changed),
        "near_tie_documents": _numbers(one.key for one in checked if one.near_tie(near_tie)),
    }


def _numbers(keys: Iterable[DocKey]) -> list[int]:
    return sorted({key.doc for key in keys})
