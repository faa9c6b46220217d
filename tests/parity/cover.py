# ruff: noqa: T201
"""Families that together show most of what lm-eval's tasks use, at little cost: those that the tests run.

    python -m tests.parity.cover

prints a fresh choice from the installed lm-eval; minutes.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

COVER: tuple[str, ...] = (
    "acpbench",
    "afrimmlu",
    "arab_culture",
    "arab_culture_completion",
    "arabicmmlu",
    "aradice",
    "arc",
    "bangla",
    "c4",
    "careqa",
    "ceval",
    "click",
    "cnn_dailymail",
    "code_x_glue",
    "copal_id",
    "crows_pairs",
    "drop",
    "eq_bench",
    "eus_reading",
    "french_bench",
    "glianorex",
    "glue",
    "gpqa",
    "gsm8k",
    "headqa",
    "hendrycks_ethics",
    "hrm8k",
    "humaneval",
    "icelandic_winogrande",
    "include",
    "indicparam",
    "infinitebench",
    "inverse_scaling",
    "japanese_leaderboard",
    "jfinqa",
    "kobest",
    "kormedmcqa",
    "lambada_cloze",
    "lingoly",
    "logiqa",
    "longbench2",
    "longproc",
    "mbpp",
    "med_text_classification",
    "meddialog",
    "medmcqa",
    "medqa",
    "mela",
    "metabench",
    "mmlu-redux-spanish",
    "mmlu_pro",
    "mutual",
    "nerel-bench",
    "noticia",
    "nq_open",
    "okapi",
    "openai-mmmlu",
    "paloma",
    "paws-x",
    "polemo2",
    "portuguese_bench",
    "pubmedqa",
    "race",
    "simple_cooccurrence_bias",
    "spanish_bench",
    "super_glue",
    "translation",
    "tydiqa",
    "ulqa",
    "uncheatable_eval",
    "wikitext",
    "winogender",
    "wmt2016",
    "wsc273",
    "xcopa",
    "xquad",
)
MOST_SECONDS = 1.2
"""Of processor time, for one family."""
START = 0.15
"""Seconds that count for each family besides its own: few families that show much are better than many."""


class Measured(NamedTuple):
    """One family with one task."""

    seconds: float
    features: frozenset[str]


def choose(measured: Mapping[str, Measured]) -> list[str]:
    """Greedily: the family that adds most per second, until none adds anything."""
    left = {name: one for name, one in measured.items() if one.seconds <= MOST_SECONDS}
    taken: list[str] = []
    seen: frozenset[str] = frozenset()
    while left:
        best = max(left, key=lambda name: len(left[name].features - seen) / (START + left[name].seconds))
        if not left[best].features - seen:
            break
        seen |= left.pop(best).features
        taken.append(best)
    return taken


def measure(family: str) -> Measured | None:
    """None for a family that is not compared in full."""
    from .families import chosen, compare_family
    from .features import features

    start = time.process_time()
    with TemporaryDirectory() as folder:
        verdicts = list(compare_family(family, Path(folder)))
    seconds = time.process_time() - start
    used = frozenset(name for task in chosen(family, 1) for name in features(task.config))
    return None if any(verdict.skipped for verdict in verdicts) else Measured(seconds, used)


def main() -> None:
    from .families import all_families

    logging.disable(logging.WARNING)
    measured = {family: measure(family) for family in all_families()}
    print(*sorted(choose({family: one for family, one in measured.items() if one is not None})), sep="\n")


if __name__ == "__main__":
    main()
