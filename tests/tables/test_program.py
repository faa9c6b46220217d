"""The real program on a lighteval task file, as a user starts it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..program import results_in, run_alone, run_program, samples_in
from .files import entry, write_table

BOTH = "Metrics.loglikelihood_acc, LogLikelihoodAccMetric(LogProbTokenNorm()), Metrics.bleu"
ENTRIES = (entry("set:pick", "told", BOTH), entry("set:say", "say", "Metrics.exact_match", "generation_size=4,"))
WHAT = ("task=[table.py:set|2]", "model=dummy", "tracker=none", "data.root=.")


def test_two_tasks_of_one_file(tmp_path: Path) -> None:
    write_table(tmp_path, *ENTRIES)
    run = run_alone(*WHAT, "hydra.run.dir=out", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    results = results_in(tmp_path / "out")["results"]
    assert {"acc,none", "acc_norm_token,none", "bleu,none"} <= results["set:pick"].keys()
    assert "em,none" in results["set:say"]


@pytest.mark.multiprocess
def test_samples_do_not_depend_on_the_number_of_processes(tmp_path: Path) -> None:
    write_table(tmp_path, *ENTRIES)
    for processes in (1, 2):
        run = run_program(*WHAT, f"hydra.run.dir=out{processes}", processes=processes, cwd=tmp_path)
        assert run.returncode == 0, run.stderr
    assert samples_in(tmp_path / "out1") == samples_in(tmp_path / "out2")
