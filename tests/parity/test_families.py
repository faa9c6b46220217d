"""lm-eval's families on made-up rows, one task each here; more of each in families.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from .families import COVER, compare_family

pytestmark = pytest.mark.parity


@pytest.mark.parametrize("family", COVER)
def test_same_prompts_and_scores(family: str, tmp_path: Path) -> None:
    pytest.importorskip("lm_eval", reason="needs lm-evaluation-harness (extra: parity)")
    verdicts = list(compare_family(family, tmp_path))
    if reasons := [verdict.skipped for verdict in verdicts if verdict.skipped]:
        pytest.skip("; ".join(reasons))
    assert [(one.task, one.wording, one.shots, one.wrong) for one in verdicts if one.wrong] == []
