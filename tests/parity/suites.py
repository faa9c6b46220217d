"""What is compared, as data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """One run of each program."""

    tasks: tuple[str, ...]
    shots: int
    limit: int
    """Documents per task."""
    batch_size: int = 4
    """lm-eval's. One where replies are generated: padding on the left moves the last bits, and near ties with them."""


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
}
"""For a random model of two layers; seconds."""
