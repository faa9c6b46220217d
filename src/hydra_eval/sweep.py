"""The index of a sweep: one line per job with its overrides, status and headline numbers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table

from hydra_eval.results.report import Results
from hydra_eval.results.tables import number
from hydra_eval.sample_file import as_plain
from hydra_eval.screen import Screen

INDEX = "sweep.jsonl"


class SweepIndex:
    """Writes `sweep.jsonl` as the jobs end, and shows all of them at the end."""

    def __init__(self, folder: Path, *, writes: bool) -> None:
        self._path = folder / INDEX
        self._writes = writes
        self._jobs: list[dict[str, Any]] = []

    def add(
        self,
        folder: Path,
        overrides: Sequence[str],
        *,
        status: str,
        results: Results | None = None,
        error: str | None = None,
    ) -> None:
        """One job has ended. Does nothing outside a sweep."""
        if not self._writes:
            return
        job = {
            "job": len(self._jobs),
            "folder": folder.name,
            "overrides": list(overrides),
            "status": status,
            "metrics": headline(results or Results()),
            "error": error,
        }
        self._jobs.append(job)
        with self._path.open("a", encoding="utf-8") as handle:
            handle.write(json.dumps(job, ensure_ascii=False, default=as_plain) + "\n")

    def show(self, screen: Screen) -> None:
        if not self._jobs:
            return
        metrics = list(dict.fromkeys(name for job in self._jobs for name in job["metrics"]))
        common = set.intersection(*(set(job["overrides"]) for job in self._jobs)) if len(self._jobs) > 1 else set()
        table = Table("job", "overrides", "status", *metrics, box=box.SIMPLE_HEAD, header_style="bold")
        for job in self._jobs:
            scores = [number(job["metrics"][name]) if name in job["metrics"] else "" for name in metrics]
            own = [override for override in job["overrides"] if override not in common]
            table.add_row(str(job["job"]), " ".join(own), job["status"], *scores)
        screen.show_table(table)
        screen.say(f"Sweep: {self._path.parent}")


def headline(results: Results) -> dict[str, Any]:
    """The first metric of each outermost group and task that has any, under `name/metric`."""
    firsts = [(row.name, row.metrics[0]) for row in results.outermost()]
    return {f"{name}/{metric.metric},{metric.filter}": metric.value for name, metric in firsts}
