"""What one task's documents are made from."""

from __future__ import annotations

from dataclasses import dataclass

from hydra_eval.config.schema import DataConfig
from hydra_eval.data.choice import Choice
from hydra_eval.data.shelf import Shelf
from hydra_eval.data.source import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskData:
    """Where the rows are, what has been read, and what the run asks."""

    source: Source
    shelf: Shelf
    choice: Choice
    config: DataConfig
