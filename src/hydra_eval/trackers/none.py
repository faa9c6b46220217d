"""The tracker that tracks nothing: the run folder is all there is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hydra_eval.config.schema import TrackerConfig
from hydra_eval.records import SampleRow
from hydra_eval.trackers.base import RunFacts


class NoTracker:
    """Takes every call and does nothing."""

    label = "no tracker"
    link: str | None = None
    resync: str | None = None

    def __init__(self, config: TrackerConfig) -> None:
        """Takes the configuration only to be built like the others."""

    def start(self, run: RunFacts) -> None: ...

    def samples(self, task: str, rows: Sequence[SampleRow]) -> None: ...

    def results(self, results: Mapping[str, Any]) -> None: ...

    def files(self, paths: Sequence[Path]) -> None: ...

    def close(self, exit_code: int) -> None: ...
