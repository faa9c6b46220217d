"""The real program: the same figures on any number of processes, and a model that a sweep keeps as it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ..program import results_in, run_program, samples_in

pytestmark = pytest.mark.multiprocess

RUN = ("task=[demo_scales,demo_ledger]", "model.dtype=bfloat16", "tracker=none", "limit=2")
CHECK = ("check.numerics=true", "check.documents=2", "check.most_drift=0.0001")
TIMES = ("model_seconds", "tokens_per_second", "peak_memory_bytes")


def numerics(folder: Path, *, processes: int) -> dict[str, Any]:
    run = folder / str(processes)
    done = run_program(*RUN, *CHECK, f"hydra.run.dir={run}", processes=processes, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Numerics: 10 requests of 4 documents again, one by one in float32; " in done.stderr
    assert "check.most_drift=0.0001. What hangs on less" in done.stderr
    ours = results_in(run)["hydra_eval"]
    assert ours["seconds"]["numerics"] > 0
    found: dict[str, Any] = ours["numerics"]
    for spent in found["efficiency"].values():
        for name in TIMES:
            del spent[name]
    return found


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return numerics(tmp_path_factory.mktemp("alone"), processes=1)


def test_half_the_bits_show(alone: dict[str, Any]) -> None:
    assert alone["total"]["loglikelihood"]["largest_drift"] > 0
    assert alone["efficiency"]["total"]["forward_tokens"] > 0


@pytest.mark.parametrize("processes", [2, 3], ids=["two processes", "more processes than documents of a task"])
def test_figures_do_not_depend_on_the_number_of_processes(
    processes: int, alone: dict[str, Any], tmp_path: Path
) -> None:
    assert numerics(tmp_path, processes=processes) == alone


def test_the_check_leaves_no_trace(tmp_path: Path) -> None:
    """The first job of a sweep checks; the second, with the same model, does not."""
    swept = run_program("-m", *RUN, "check.numerics=true,false", "hydra.sweep.dir=swept", cwd=tmp_path)
    assert swept.returncode == 0, swept.stdout + swept.stderr
    checked, other = (path.parent for path in sorted(tmp_path.glob("swept/*/results.json")))
    assert samples_in(checked) == samples_in(other)
    with_check, without = (results_in(folder)["hydra_eval"] for folder in (checked, other))
    assert with_check["numerics"]["total"]["requests"] == 10
    assert not {"numerics"} & {*without, *without["seconds"]}
    spent = [found["efficiency"]["total"] for found in (with_check, without)]
    assert spent[0]["forward_tokens"] == spent[1]["forward_tokens"]
