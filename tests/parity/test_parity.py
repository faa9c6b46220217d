"""Both programs from start to end on random models; real models: see compare.py."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from .compare import main
from .conftest import REPOSITORY
from .tiny import build

pytest.importorskip("lm_eval", reason="needs lm-evaluation-harness (extra: parity)")

pytestmark = [pytest.mark.parity, pytest.mark.multiprocess]


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """Two models, and lm-eval's output of the tests so far, which the later ones reuse."""
    with TemporaryDirectory() as name:
        for model in ("plain", "bos"):
            build(Path(name) / model, tasks=REPOSITORY / "tasks", bos=model == "bos")
        yield Path(name)


@pytest.mark.parametrize(
    ("model", "wording", "processes"),
    [
        pytest.param("plain", "plain", 1, id="one process"),
        pytest.param("plain", "plain", 2, id="two processes"),
        pytest.param("bos", "turns_system", 1, id="chat turns, system text, BOS"),
        pytest.param("bos", "one_turn", 1, id="one chat turn, BOS"),
    ],
)
def test_equals_lm_eval(
    model: str, wording: str, processes: int, folder: Path, data_root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = folder / f"{model}_{processes}"
    options = ["--model", folder / model, "--data", data_root, "--out", out, "--oracle", folder / f"oracle_{model}"]
    code = main([*map(str, options), "--suite", "quick_2", "--wording", wording, "--processes", str(processes)])
    assert code == 0, capsys.readouterr().out
