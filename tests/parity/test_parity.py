"""Both programs from start to end on a random model; real models: see compare.py."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from .compare import main
from .conftest import REPOSITORY
from .suites import QUICK
from .tiny import build

pytest.importorskip("lm_eval", reason="needs lm-evaluation-harness (extra: parity)")

pytestmark = [pytest.mark.parity, pytest.mark.multiprocess]


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A model and, after the first test, lm-eval's output, which the later ones reuse."""
    with TemporaryDirectory() as name:
        build(Path(name) / "model", tasks=REPOSITORY / "tasks")
        yield Path(name)


@pytest.mark.parametrize("processes", [1, 2], ids=["one process", "two processes"])
@pytest.mark.parametrize("suite", QUICK)
def test_equals_lm_eval(
    suite: str, processes: int, folder: Path, data_root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = folder / f"{processes}"
    options = ["--model", folder / "model", "--data", data_root, "--out", out, "--oracle", folder / "oracle"]
    code = main([*map(str, options), "--suite", suite, "--processes", str(processes)])
    assert code == 0, capsys.readouterr().out
