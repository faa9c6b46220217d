"""lm-eval's families on made-up rows, one task each here; more of each in families.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from .cover import COVER, Measured, choose
from .families import compare_family


@pytest.mark.parity
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # lm-eval divides by the length of empty choices
@pytest.mark.parametrize("family", COVER)
def test_same_prompts_and_scores(family: str, tmp_path: Path) -> None:
    pytest.importorskip("lm_eval", reason="needs lm-evaluation-harness (extra: parity)")
    verdicts = list(compare_family(family, tmp_path))
    if reasons := [verdict.skipped for verdict in verdicts if verdict.skipped]:
        pytest.skip("; ".join(reasons))
    assert [(one.task, one.wording, one.shots, one.wrong) for one in verdicts if one.wrong] == []


def test_choose_takes_what_adds_most_per_second() -> None:
    measured = {
        "both, slow": Measured(1.1, frozenset("ab")),
        "one, quick": Measured(0.1, frozenset("a")),
        "other": Measured(0.2, frozenset("b")),
        "nothing new": Measured(0.0, frozenset()),
        "too slow": Measured(9.0, frozenset("abc")),
    }
    assert choose(measured) == ["one, quick", "other"]
