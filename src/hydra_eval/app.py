"""The program: `run.py`, `python -m hydra_eval`, `hydra-eval run`.

The main process picks the run folder and composes first; only then do the other ranks start Hydra, so that help, a
wrong override or an unknown task is answered once, whatever the number of processes.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import cast

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.errors import CompactHydraException, MissingConfigException
from omegaconf import DictConfig, OmegaConf

from hydra_eval.config.command_line import CommandLine, parse_command_line
from hydra_eval.config.compose import register, typed
from hydra_eval.config.explain import explain
from hydra_eval.config.folder import RunFolder, named_folder, new_folder, pick_folder, run_slug
from hydra_eval.config.notices import notices
from hydra_eval.config.tasks_file import expanded
from hydra_eval.errors import UserError
from hydra_eval.fleet import Failure, Fleet, JobFailed, start_fleet
from hydra_eval.launch import Launch
from hydra_eval.process import complain, print_anything, quiet_libraries, seldom_collect
from hydra_eval.resources import conf_folder
from hydra_eval.results.report import Results
from hydra_eval.runner import ModelShelf
from hydra_eval.screen import Screen
from hydra_eval.sweep import SweepIndex
from hydra_eval.tasks.shots import refuse_two_counts

log = logging.getLogger(__name__)

OUTPUTS = Path("outputs")
COMPOSED = "composed"
INTERRUPTED = 130
"""What shells make of Ctrl-C."""


def main() -> None:
    """Run what the command line says and exit: 0 for results, 1 for an error."""
    quiet_libraries()
    print_anything()
    seldom_collect()
    try:
        sys.exit(_start(parse_command_line(sys.argv[1:])))
    except UserError as error:
        complain(str(error))
    except CompactHydraException as error:
        complain(explain(error))
    except JobFailed as error:
        # Raised on every rank; the main process speaks for all of them.
        if os.environ.get("RANK", "0") == "0":
            complain(str(error))
    except KeyboardInterrupt:
        if os.environ.get("RANK", "0") == "0":
            complain("interrupted.")
        sys.exit(INTERRUPTED)
    sys.exit(1)


def _start(command: CommandLine) -> int:
    register()
    if not command.runs:
        if os.environ.get("RANK", "0") == "0":
            sys.argv[1:] = expanded(command).argv
            _hydra(lambda cfg: None)
        return 0
    fleet = start_fleet()
    held = None
    with fleet.stage("folder"):
        if fleet.is_main:
            command = expanded(command)
            held = claim_folder(command)
    folder: Path
    folder, argv = fleet.exchange("folder", (held.path, command.argv) if held else None, to_all=True)[0]
    command = parse_command_line(argv)
    sys.argv[1:] = command.within(folder, is_main=fleet.is_main)
    return Session(fleet, command, folder).run()


def claim_folder(command: CommandLine) -> RunFolder:
    """The folder of this run or sweep, locked until the process ends."""
    command.check()
    now = datetime.now()
    if command.named_folder is not None:
        return named_folder(command.named_folder)
    with _writable(OUTPUTS):
        if command.multirun:
            return new_folder(OUTPUTS / "multirun" / f"{now:%Y-%m-%d_%H-%M-%S}-{run_slug(command.overrides)}")
        return pick_folder(OUTPUTS, command.overrides, resume=command.value("resume") != "never", now=now)


@contextmanager
def _writable(folder: Path) -> Iterator[None]:
    """Says where it was that a file system refused, and what would do."""
    try:
        yield
    except MissingConfigException:  # an OSError too, and told in other words
        raise
    except OSError as error:
        where = error.filename or folder
        raise UserError(
            f"{where}: cannot be written: {error.strerror or error}. Free the place, or choose hydra.run.dir "
            "(for a sweep hydra.sweep.dir)."
        ) from error


def _hydra(job: Callable[[DictConfig], None]) -> None:
    hydra.main(version_base="1.3", config_path=str(conf_folder()), config_name="config")(job)()


class Session:
    """The jobs of one launch: one, or a sweep's. What they share is the model and the exit code."""

    def __init__(self, fleet: Fleet, command: CommandLine, folder: Path) -> None:
        self.fleet = fleet
        self.command = command
        self.folder = folder
        self.models = ModelShelf()
        self.screen = Screen(shown=fleet.is_main)
        self.index = SweepIndex(folder, writes=fleet.is_main and command.multirun)
        self.failed = 0

    def run(self) -> int:
        """Start Hydra on the main process, then on the others, and walk the jobs in step."""
        if not self.fleet.is_main:
            self.fleet.exchange(COMPOSED)
        try:
            with _writable(self.folder):
                _hydra(self.job)
        finally:
            self._release_others()
        self.index.show(self.screen)
        return 1 if self.failed else 0

    def _release_others(self) -> None:
        """Where Hydra never came to a first job (and has said why), the other ranks still wait for word."""
        if self.fleet.is_main and self.fleet.job == 0:
            with suppress(JobFailed):
                self.fleet.exchange(COMPOSED, failure=Failure(rank=0, message=COMPOSED, trace=None))

    def job(self, cfg: DictConfig) -> None:
        """One job. Its failure is told and counted, and the next job starts."""
        if self.fleet.is_main and self.fleet.job == 0:
            self.fleet.exchange(COMPOSED)
        self.fleet.job += 1
        # As typed: a `${` in one of them is not to be looked up here.
        overrides = cast(list[str], OmegaConf.to_container(HydraConfig.get().overrides.task, resolve=False))
        folder = Path(HydraConfig.get().runtime.output_dir)
        try:
            results = self._evaluate(cfg, folder, overrides)
        except JobFailed as error:
            self.failed += 1
            self.index.add(folder, overrides, status="failed", error=str(error))
            if self.fleet.is_main:
                self._tell(error, overrides)
        else:
            status = "dry run" if OmegaConf.select(cfg, "dry_run", default=False) else "complete"
            self.index.add(folder, overrides, status=status, results=results)

    def _evaluate(self, cfg: DictConfig, folder: Path, overrides: list[str]) -> Results:
        fleet = self.fleet
        with fleet.stage("config"):
            refuse_two_counts(overrides)
            config = typed(cfg)
            for notice in notices(config):
                log.info(notice)
            for spec in self.command.repeated_specs():
                log.info("task=: '%s' is asked for more than once and runs once.", spec)
        launch = Launch(fleet=fleet, models=self.models, screen=self.screen)
        sweep = self.folder.name if self.command.multirun else None
        return launch.evaluate(config, folder, overrides=overrides, sweep=sweep)

    def _tell(self, error: JobFailed, overrides: list[str]) -> None:
        """The message, after the trace where the fault is not the user's to mend; on screen and in the log."""
        if error.trace:
            log.error("%s", error.trace)
        job = f"job {self.fleet.job - 1} ({' '.join(overrides)}): " if self.command.multirun else ""
        log.error("hydra-eval: error: %s%s", job, error)
