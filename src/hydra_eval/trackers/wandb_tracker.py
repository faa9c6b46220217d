"""A run in Weights & Biases: configuration, one number per metric, one table of samples per task, the files."""

from __future__ import annotations

import logging
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hydra_eval.config.schema import TrackerConfig
from hydra_eval.records import SampleRow
from hydra_eval.trackers.base import RunFacts
from hydra_eval.trackers.summary import cell_table, summary_metrics
from hydra_eval.trackers.tables import sample_table
from hydra_eval.trackers.wandb_settings import environment, requested_mode, run_settings

logger = logging.getLogger(__name__)

ARTIFACT_TYPE = "evaluation"
LONGEST_ARTIFACT_NAME = 128
ANSWER_SECONDS = 20


class WandbTracker:
    """One W&B run per `start`; falls back to an offline run where the server cannot be had."""

    label = "W&B"

    def __init__(self, config: TrackerConfig) -> None:
        self._config = config
        self._facts: RunFacts | None = None
        self._run: Any = None
        self._artifact: Any = None
        self.link: str | None = None
        self.resync: str | None = None

    def start(self, run: RunFacts) -> None:
        """Takes about a second, most of it the import; up to START_SECONDS where a server does not answer."""
        mode = requested_mode(self._config.mode, os.environ)
        if mode == "disabled":
            return
        self._facts = run
        with environment(run.folder):
            self._run, trouble = self._open(run, mode)
        self.resync = f"wandb sync {shlex.quote(str(self._run.sync_dir))}"
        self.link = self.resync if self._run.offline else self._run.url
        if trouble:
            logger.warning(
                "W&B cannot be used online (%s). This run is kept offline; send it with: %s", trouble, self.link
            )

    def samples(self, task: str, rows: Sequence[SampleRow]) -> None:
        if self._run is None or not self._config.log_samples:
            return
        columns, data = sample_table(rows)
        with environment(self._run_facts.folder):
            self._log_table(f"samples/{task}", columns, data)

    def results(self, results: Mapping[str, Any]) -> None:
        if self._run is None:
            return
        with environment(self._run_facts.folder):
            self._run.config.update({"n-shot": dict(results.get("n-shot", {}))}, allow_val_change=True)
            self._run.summary.update(summary_metrics(results))
            columns, data = cell_table(results)
            if data:
                self._log_table("cells", columns, data)

    def files(self, paths: Sequence[Path]) -> None:
        """Copies the files, so that a later change to one of them does not spoil a pending upload."""
        if self._run is None:
            return
        run = self._run_facts
        with environment(run.folder):
            import wandb

            artifact = wandb.Artifact(
                artifact_name(self._config.name or run.name),
                type=ARTIFACT_TYPE,
                metadata={"model": run.model, "tasks": list(run.tasks)},
            )
            for path in paths:
                artifact.add_file(str(path), name=path.name, skip_cache=True)
            self._artifact = self._run.log_artifact(artifact)

    def close(self, exit_code: int) -> None:
        """Raises where the upload failed or is not done within `finish_timeout`."""
        if self._run is None:
            return
        run, self._run = self._run, None
        with environment(self._run_facts.folder):
            run.finish(exit_code=exit_code)
            if self._artifact is not None and not run.offline:
                self._artifact.wait(timeout=ANSWER_SECONDS)  # `finish` does not tell of a refused upload
        _drop_links(Path(run.sync_dir))

    def _log_table(self, name: str, columns: list[str], data: list[list[Any]]) -> None:
        import wandb

        _allow_rows(wandb.Table, len(data))
        self._run.log({name: wandb.Table(columns=columns, data=data)})

    @property
    def _run_facts(self) -> RunFacts:
        assert self._facts is not None, "start() comes first"
        return self._facts

    def _open(self, run: RunFacts, mode: str) -> tuple[Any, str]:
        """A started run, and why it is not online although it should be (empty where all is as asked)."""
        import wandb

        trouble = ""
        if mode != "offline":
            try:
                if wandb.login(prompt=False, verify=False):
                    return self._init(wandb, run, "online"), ""
                if mode == "online":
                    trouble = "no credentials: set WANDB_API_KEY or run `wandb login`"
            except (wandb.Error, OSError) as error:  # TimeoutError is an OSError
                trouble = str(error).partition("\n")[0]
        return self._init(wandb, run, "offline"), trouble

    def _init(self, wandb: Any, run: RunFacts, mode: str) -> Any:
        config = self._config
        settings = wandb.Settings(**run_settings(wandb.Settings.model_fields, os.environ))
        return wandb.init(
            mode=mode,
            dir=str(run.folder.resolve()),
            project=_project(config),
            entity=config.entity,
            group=config.group or run.group,
            job_type=config.job_type or run.job_type,
            name=config.name or run.name,
            tags=list(dict.fromkeys([*config.tags, *run.tags])),
            notes=config.notes,
            config=dict(run.config),
            reinit="create_new",  # leaves alone a run that the calling program may have open
            settings=settings,
        )


def _project(config: TrackerConfig) -> str | None:
    """None leaves it to WANDB_PROJECT, which beats a default and nothing that was typed."""
    return None if "WANDB_PROJECT" in os.environ and config.project == TrackerConfig.project else config.project


def artifact_name(name: str) -> str:
    """The run's name in the letters that W&B allows; the same evaluation again is a new version of it."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-")[:LONGEST_ARTIFACT_NAME] or ARTIFACT_TYPE


def _drop_links(folder: Path) -> None:
    """W&B links its log by absolute path; left in place, a copied or moved run folder holds a dead link."""
    for path in (folder / "logs").iterdir():
        if path.is_symlink():
            path.unlink()


def _allow_rows(table: Any, count: int) -> None:
    """W&B cuts a table silently at limits that are class attributes, meant to be raised."""
    table.MAX_ROWS = max(table.MAX_ROWS, count)
    table.MAX_ARTIFACT_ROWS = max(table.MAX_ARTIFACT_ROWS, count)
