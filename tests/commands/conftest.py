from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.toy_tasks import GENERATION, write_task
from tests.toys import data_sets_prepared_in


@pytest.fixture
def tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A task folder that `task=` knows: `choice` (4 documents) and `reply` (generation, 3)."""
    folder = tmp_path / "tasks"
    write_task(folder, "choice", 4)
    steps = [{"function": "regex", "regex_pattern": "is (\\w+)"}, {"function": "take_first"}]
    write_task(folder, "reply", 3, **GENERATION, filter_list=[{"name": "word", "filter": steps}])
    monkeypatch.setenv("HYDRA_EVAL_TASK_PATH", str(folder))
    with data_sets_prepared_in(tmp_path / "cache"):
        yield folder
