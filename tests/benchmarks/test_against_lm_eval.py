"""The smallest setting on a random model: the figures mean nothing, the answers and the counters must agree."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.against_lm_eval import main

from ..parity.conftest import DATA, REPOSITORY
from ..parity.tiny import build

pytest.importorskip("lm_eval", reason="needs lm-evaluation-harness (extra: parity)")

ABOUT_THE_MACHINE = ("times as fast", "peak memory")


@pytest.mark.parity
@pytest.mark.multiprocess
@pytest.mark.skipif(not DATA.is_dir(), reason="needs ../shared/data: real data sets in the hub's layout")
def test_both_programs_say_and_count_the_same(tmp_path: Path) -> None:
    model, out = build(tmp_path / "model", tasks=REPOSITORY / "tasks"), tmp_path / "found.json"
    options = ["--settings", "gsm8k_fixed", "--documents", "2", "--batches", "1", "--threads", "1", "--out", str(out)]
    main(["--model", str(model), "--data", str(DATA), *options])
    setting = json.loads(out.read_text(encoding="utf-8"))["settings"]["gsm8k_fixed"]
    of_programs = [one for one in setting["verdicts"] if not any(part in one["bound"] for part in ABOUT_THE_MACHINE)]
    assert len(of_programs) == 5
    assert [one for one in of_programs if not one["holds"]] == []
    ours, theirs = setting["ours"]["figures"], setting["peers"][0]["figures"]
    assert 0 < ours["positions"] < theirs["positions"]
