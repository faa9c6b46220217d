"""What is compared, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """One run of each program."""

    tasks: tuple[str, ...]
    shots: int
    limit: int
    """Documents per task."""
    batch_size: int = 4
    """lm-eval's. One where replies are generated: padding on the left moves the last bits, and near ties with them."""
    files: tuple[str, ...] = ()
    """lm-eval's files of these tasks, for us to run; without them we run the bundled tasks of the same names."""
    chat: bool = False
    """Under the tokenizer's chat template."""
    multiturn: bool = True
    system: str | None = None


SUITES: dict[str, Suite] = {
    "gsm8k_5": Suite(tasks=("gsm8k",), shots=5, limit=8, batch_size=1),
    "arc_easy_5": Suite(tasks=("arc_easy",), shots=5, limit=24),
    "arc_easy_0": Suite(tasks=("arc_easy",), shots=0, limit=60),
    "mixed_0": Suite(tasks=("winogrande", "piqa", "boolq", "lambada_openai"), shots=0, limit=20),
}
"""For a real model; minutes on two CPU cores."""

QUICK: dict[str, Suite] = {
    "quick_2": Suite(
        tasks=("gsm8k", "arc_easy", "arc_challenge", "winogrande", "piqa", "boolq", "lambada_openai"),
        shots=2,
        limit=4,
        batch_size=1,
    ),
    "quick_5": Suite(tasks=("arc_easy",), shots=5, limit=8, batch_size=1),
}
"""For a random model of two layers; seconds."""

SYSTEM = "Answer the last question."
WORDINGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "system": {"system": SYSTEM},
    "turns": {"chat": True},
    "turns_system": {"chat": True, "system": SYSTEM},
    "one_turn": {"chat": True, "multiturn": False},
    "one_turn_system": {"chat": True, "multiturn": False, "system": SYSTEM},
}
"""Name → fields of a suite."""


def found_suite(root: Path) -> Suite:
    """Every task of lm-eval's whose data is below `root`, from lm-eval's own files.

    Tasks that sample replies or run them as code are left out: two programs do not draw alike.
    """
    from .catalogue import found_below

    tasks = [found.task for found in found_below(root) if found.reason is None and _is_sure(found.task.config)]
    return Suite(
        tasks=tuple(task.name for task in tasks),
        files=tuple(str(task.path) for task in tasks),
        shots=2,
        limit=24,
        batch_size=1,
    )


def _is_sure(config: Mapping[str, object]) -> bool:
    options = config.get("generation_kwargs")
    return not config.get("unsafe_code") and not (isinstance(options, Mapping) and options.get("do_sample"))
