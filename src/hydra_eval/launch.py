"""One typed config, run on every process of a launch: with its tracker, its table, and the way out when it fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from hydra_eval.config.schema import ModelConfig, RunConfig
from hydra_eval.fleet import Fleet, JobFailed, default_device, named
from hydra_eval.models import needs_device
from hydra_eval.results.file import plain
from hydra_eval.results.report import Results
from hydra_eval.runner import Job, ModelShelf, run_job
from hydra_eval.screen import Screen
from hydra_eval.trackers import build_tracker
from hydra_eval.trackers.base import RunFacts, Tracker


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """What the jobs of one launch share."""

    fleet: Fleet
    models: ModelShelf
    screen: Screen

    def evaluate(
        self, config: RunConfig, folder: Path, *, overrides: Sequence[str] = (), sweep: str | None = None
    ) -> Results:
        """Run `config` into `folder`; `sweep` names what it is a job of. Results are on the main process only.

        `overrides` are those that were typed; those of them that change nothing are told.

        Raises JobFailed on every rank where any rank fails.
        """
        fleet = self.fleet
        with fleet.stage("tracker settings"):
            tracker = build_tracker(config.tracker)
            if fleet.world == 1 and not config.dry_run:
                fleet.device = chosen_device(config.model)
            facts = run_facts(config, folder, sweep=sweep)
        fleet.set_timeout(config.runner.timeout_hours)
        job = Job(
            config=config,
            fleet=fleet,
            folder=folder,
            tracker=tracker,
            facts=facts,
            models=self.models,
            screen=self.screen,
            overrides=overrides,
        )
        try:
            results = run_job(job)
            with fleet.stage("shown"):
                if fleet.is_main and not config.dry_run:
                    self.screen.show_results(results, folder, tracker.link)
        except JobFailed:
            self._close(tracker, exit_code=1)
            raise
        self._close(tracker, exit_code=0)
        return results

    def _close(self, tracker: Tracker, *, exit_code: int) -> None:
        if self.fleet.is_main:
            tracker.close(exit_code)


def chosen_device(config: ModelConfig) -> str:
    """Of a run of one process. Who looks for one imports torch, so a model that computes nothing goes without."""
    return named(config.device) if config.device else (default_device() if needs_device(config) else "cpu")


def run_facts(config: RunConfig, folder: Path, *, sweep: str | None) -> RunFacts:
    """What the tracker is told of the run before it starts."""
    model = config.model.name or (config.model.pretrained or config.model.kind).rstrip("/").rpartition("/")[2]
    return RunFacts(
        folder=folder,
        config=plain(asdict(config)),
        name=config.tracker.name or folder.name,
        group=config.tracker.group or sweep,
        job_type=config.tracker.job_type,
        tags=tuple(config.tracker.tags),
        tasks=tuple(config.tasks),
        model=model,
    )
