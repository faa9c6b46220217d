"""What one process is to do, and what it measures. Needs nothing installed: every peer's Python reads it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ORDER, FIGURES = "order.json", "figures.json"
RUN = "run"
"""hydra-eval's run folder, below the order's."""
ANSWERS = "answers.json"
"""What lighteval said, one row per document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """One run of one program."""

    who: str
    task: str
    file: str
    """The task, in a file that the program reads."""
    shots: int
    documents: int
    model: str
    """Folder of the checkpoint."""
    dtype: str = "float32"
    device: str = "cpu"
    batch: int | None = None
    """None: the program's own choice."""
    threads: int
    memory: int | None = None
    """Most bytes the process may take; more is out of memory."""
    folder: str
    """For everything the process writes; `order.json`, `figures.json` and `log.txt` among it."""
    overrides: tuple[str, ...] = ()
    """Of hydra-eval alone."""

    @property
    def name(self) -> str:
        return self.who if self.batch is None else f"{self.who}, batch size {self.batch}"

    def write(self) -> Path:
        path = Path(self.folder) / ORDER
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(asdict(self), indent=2) + "\n", encoding="utf-8")
        return path


def read_order(path: str | Path) -> Order:
    return order_of(json.loads(Path(path).read_text(encoding="utf-8")))


def order_of(content: Mapping[str, Any]) -> Order:
    """What `asdict` made of an order, back from JSON."""
    return Order(**{**content, "overrides": tuple(content["overrides"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What a process measured of itself. The request phase goes from prompts to responses, tokenisation in it."""

    load_s: float
    request_s: float
    cpu_s: float
    """Processor time of the request phase, over all threads."""
    request_peak: int
    """Bytes: the most that the process held in the request phase, or on a GPU its tensors."""
    process_peak: int
    """Bytes: the most that the process held at any time."""
    positions: int
    """Sent through the model, padding included."""
    row_steps: int
    """Of these, sent in passes of one position per row: the steps of replies."""
    logit_rows: int
    """Positions that the head made logits for."""
    threads: int

    @property
    def positions_per_second(self) -> float:
        return self.positions / self.request_s


def write_figures(order: Order, figures: Figures) -> None:
    path = Path(order.folder) / FIGURES
    path.write_text(json.dumps(asdict(figures), indent=2) + "\n", encoding="utf-8")


def read_figures(order: Order) -> Figures:
    return Figures(**json.loads((Path(order.folder) / FIGURES).read_text(encoding="utf-8")))
