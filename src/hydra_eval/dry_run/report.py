"""Everything that a dry run says, as records and as the content of `dry_run.json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from hydra_eval import __version__
from hydra_eval.config.schema import ModelConfig
from hydra_eval.dry_run.counts import Counts, count
from hydra_eval.dry_run.preview import Preview, as_json, previews
from hydra_eval.fewshot.facts import shot_facts
from hydra_eval.models.encoding import Encoder
from hydra_eval.pipeline import Work
from hydra_eval.prompts.fitting import Asked
from hydra_eval.prompts.overflow import facts_of


@dataclass(frozen=True, slots=True, kw_only=True)
class DryTask:
    """One task: its counts, and its first document as the model would see it."""

    name: str
    counts: Counts
    overflow: Mapping[str, Any]
    shots: Mapping[str, Any]
    first: Asked
    previews: Sequence[Preview]


@dataclass(frozen=True, slots=True, kw_only=True)
class DryRun:
    """What a run would do."""

    model: str
    encoder: Encoder
    tasks: Sequence[DryTask]
    total: Counts
    unused: Sequence[str]
    """One line for each option that changes nothing."""


def dry_run(work: Work, encoder: Encoder, model: ModelConfig, unused: Sequence[str]) -> DryRun:
    """Tokenises every request of the run; no weights."""
    counted = count(work, encoder)
    firsts: dict[str, Asked] = {}
    for key, one in work.asked.items():
        firsts.setdefault(key.task, one)
    tasks = [
        DryTask(
            name=task.name,
            counts=counted.by_task[task.name],
            overflow=facts_of(work.overflow[task.name], counted.cut[task.name]),
            shots=shot_facts(task, work.picks[task.name], work.shown(task.name)),
            first=firsts[task.name],
            previews=previews(firsts[task.name].requests, encoder),
        )
        for task in work.scored_tasks
    ]
    name = model.name or model.pretrained or model.kind
    return DryRun(model=name, encoder=encoder, tasks=tasks, total=counted.total, unused=unused)


def content_of(found: DryRun) -> dict[str, Any]:
    """What `dry_run.json` holds: nothing in it is cut for the eye."""
    return {
        "status": "dry_run",
        "version": __version__,
        "model": found.model,
        "window": found.encoder.max_length,
        "total": _counts(found.total),
        "tasks": {task.name: _task(task, found.encoder.tokenizer) for task in found.tasks},
        "without_effect": list(found.unused),
    }


def shown_rows(one: Asked) -> list[str]:
    """Split and row of each example, in prompt order."""
    return [f"{split} {position}" for split, position in (shot.origin for shot in one.shots)]


def _counts(counts: Counts) -> dict[str, Any]:
    return {**asdict(counts), "saved": round(counts.saved, 4)}


def _task(task: DryTask, tokenizer: Any) -> dict[str, Any]:
    return {
        **_counts(task.counts),
        "overflow": dict(task.overflow),
        "fewshot": dict(task.shots),
        "first": {
            "doc_id": task.first.doc.index,
            "row": list(task.first.doc.origin),
            "shots": [list(shot.origin) for shot in task.first.shots],
            "requests": [as_json(preview, tokenizer) for preview in task.previews],
        },
    }
