"""What a tracker is: the second reader of a run's records, after the run folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from hydra_eval.records import SampleRow


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """What a tracker is told of a run before the first document; the tracker's own configuration goes before it."""

    folder: Path
    """The run folder; whatever a tracker writes stays inside."""
    config: Mapping[str, Any]
    """The resolved configuration in plain containers."""
    name: str
    model: str
    tasks: Sequence[str]
    group: str | None = None
    """Common to all jobs of a sweep."""
    job_type: str | None = None
    tags: Sequence[str] = ()


class Tracker(Protocol):
    """Told of a run in this order: start, samples of each task, results, files, close."""

    @property
    def label(self) -> str:
        """What messages call it."""
        ...

    @property
    def link(self) -> str | None:
        """Where to see the run: a URL, or the command that uploads it; None before `start` and where there is none."""
        ...

    @property
    def resync(self) -> str | None:
        """The command that sends what was logged up to a failure; None where nothing was."""
        ...

    def start(self, run: RunFacts) -> None: ...

    def samples(self, task: str, rows: Sequence[SampleRow]) -> None:
        """All rows of one task: one per document and filter."""
        ...

    def results(self, results: Mapping[str, Any]) -> None:
        """What results.json holds."""
        ...

    def files(self, paths: Sequence[Path]) -> None:
        """Finished files of the run folder, to be kept together."""
        ...

    def close(self, exit_code: int) -> None: ...
