from __future__ import annotations

import gc
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hydra_eval.process import seldom_collect

from .toy_tasks import write_task

HEAVY = {"torch", "transformers", "accelerate", "wandb", "sklearn", "sacrebleu", "evaluate"}
DATA = {"datasets", "pandas", "pyarrow", "huggingface_hub"}
CONFIG = {"hydra", "omegaconf", "yaml", "jinja2", "numpy"}
RUN = """
import sys
from hydra_eval.app import main
try:
    main()
except SystemExit as end:
    assert not end.code, end
"""

TOLD = """
import json
import sys
sys.stderr.write("\\n" + json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""


def imported(code: str, *arguments: str, cwd: Path) -> set[str]:
    """Libraries that are there when the code has run."""
    command = [sys.executable, "-c", code + TOLD, *arguments]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=True)
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.mark.parametrize(
    ("code", "unwanted"),
    [("import hydra_eval.cli", HEAVY | DATA | CONFIG), ("import hydra_eval.app", HEAVY | DATA)],
    ids=["console script", "run"],
)
def test_an_entry_point_starts_without_what_it_may_never_need(code: str, unwanted: set[str], tmp_path: Path) -> None:
    assert imported(code, cwd=tmp_path) & unwanted == set()


def test_a_model_that_computes_nothing_runs_without_torch(tmp_path: Path) -> None:
    write_task(tmp_path / "tasks", "seven", 7)
    where = f"hydra.searchpath=[tasks://{tmp_path / 'tasks'}]"
    found = imported(RUN, "task=seven", where, "model=dummy", "tracker=none", "hydra.run.dir=run", cwd=tmp_path)
    assert (tmp_path / "run" / "results.json").exists()
    assert found & HEAVY == set()


@pytest.fixture
def collector() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


@pytest.mark.usefixtures("collector")
def test_only_the_full_collections_become_rare() -> None:
    young, middle, old = gc.get_threshold()
    seldom_collect()
    assert gc.get_threshold() == (young, middle, max(old, 1000))
