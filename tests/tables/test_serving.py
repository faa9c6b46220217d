from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from hydra_eval.tables.serving import SERVED, serve


@pytest.mark.parametrize("module", SERVED)
def test_every_served_module_can_be_imported(module: str) -> None:
    serve()
    assert importlib.import_module(module).__name__ == module


@pytest.mark.parametrize("name", ["dataset", "scorer", "solver"])
def test_lightevals_other_engine_is_inert(name: str) -> None:
    serve()
    module = importlib.import_module(f"inspect_ai.{name}")
    assert callable(module.scorer(metrics=[module.accuracy()])(len))


@pytest.mark.parametrize(
    ("source", "told"),
    [("REAL = True", "True"), ("raise ImportError('another antlr')", "False")],
    ids=["works", "cannot be imported"],
)
def test_lighteval_itself_is_taken_where_it_works(tmp_path: Path, source: str, told: str) -> None:
    for package in ("lighteval", "lighteval/metrics", "lighteval/metrics/metrics"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text("", encoding="utf-8")
    (tmp_path / "lighteval" / "metrics" / "metrics" / "__init__.py").write_text(source, encoding="utf-8")
    program = (
        "from hydra_eval.tables.serving import serve; serve(); import lighteval.metrics.metrics as metrics; "
        "print('REAL' in vars(metrics))"
    )
    environment = {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == told
