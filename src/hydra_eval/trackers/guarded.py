"""A tracker that cannot hurt its run."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hydra_eval.records import SampleRow
from hydra_eval.trackers.base import RunFacts, Tracker

logger = logging.getLogger(__name__)


class Guarded:
    """Another tracker, whose first failure becomes one warning; after that only `close` still reaches it."""

    def __init__(self, tracker: Tracker) -> None:
        self._tracker = tracker
        self._folder: Path | None = None
        self._started = False
        self._failed = False

    @property
    def label(self) -> str:
        return self._tracker.label

    @property
    def link(self) -> str | None:
        return self._tracker.link

    @property
    def resync(self) -> str | None:
        return self._tracker.resync

    def start(self, run: RunFacts) -> None:
        self._folder = run.folder
        self._call("start", lambda: self._tracker.start(run))
        self._started = not self._failed

    def samples(self, task: str, rows: Sequence[SampleRow]) -> None:
        self._call(f"samples of {task}", lambda: self._tracker.samples(task, rows))

    def results(self, results: Mapping[str, Any]) -> None:
        self._call("results", lambda: self._tracker.results(results))

    def files(self, paths: Sequence[Path]) -> None:
        self._call("files", lambda: self._tracker.files(paths))

    def close(self, exit_code: int) -> None:
        """Closes after a failure too: what was logged before it is kept, and nothing is left running."""
        if self._started:
            self._started = False
            self._guard("close", lambda: self._tracker.close(exit_code))

    def _call(self, what: str, action: Callable[[], None]) -> None:
        if not self._failed:
            self._guard(what, action)

    def _guard(self, what: str, action: Callable[[], None]) -> None:
        try:
            action()
        except Exception as error:  # whatever a tracker meets, the results are in the run folder and must not suffer
            logger.debug("%s: %s failed", self.label, what, exc_info=True)
            if not self._failed:
                self._failed = True
                logger.warning(self._warning(what, error))

    def _warning(self, what: str, error: Exception) -> str:
        reason = next(iter(str(error).splitlines()), "") or "no message"
        later = f"What was logged before can be sent with: {self.resync}" if self.resync else "Nothing was sent to it."
        return (
            f"{self.label} failed at {what} ({type(error).__name__}: {reason}) and is left out from here on. "
            f"Results and samples do not depend on it and are written in full to {self._folder}. {later}"
        )
