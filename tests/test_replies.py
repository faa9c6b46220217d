"""Reasoning and several samples, through the real program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.program import results_in, run_program, samples_in


def test_reasoning_is_kept_apart_and_counted(tmp_path: Path) -> None:
    what = ("task=demo_sums", "limit=6", "tracker=none", 'model.think_end_token="= "', "hydra.run.dir=run")
    done = run_program(*what, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert results_in(tmp_path / "run")["hydra_eval"]["thinking"] == {"demo_sums": {"replies": 6, "unclosed": 0}}
    (lines,) = samples_in(tmp_path / "run").values()
    for line in map(json.loads, lines.decode().splitlines()):
        assert line["reasoning"][0].endswith("= ") and "= " not in line["resps"][0][0]


@pytest.mark.multiprocess
def test_several_samples_are_as_many_and_the_same_on_two_processes(tmp_path: Path) -> None:
    sampled = ("generation.do_sample=true", "generation.temperature=0.7", "generation.n=4", "filters=none")
    what = ("task='demo_sums@k=2'", "metrics=pass_at_k", "limit=3", "tracker=none", *sampled)
    one = run_program(*what, "hydra.run.dir=one", cwd=tmp_path)
    two = run_program(*what, "model.batch_size=1", "hydra.run.dir=two", processes=2, cwd=tmp_path)
    assert (one.returncode, two.returncode) == (0, 0), one.stderr + two.stderr
    assert samples_in(tmp_path / "one") == samples_in(tmp_path / "two")
    (lines,) = samples_in(tmp_path / "one").values()
    replies = [line["resps"][0] for line in map(json.loads, lines.decode().splitlines())]
    assert [len(of_document) for of_document in replies] == [4, 4, 4]
    assert any(len(set(of_document)) > 1 for of_document in replies)
