"""Every task of the shelf without lm-eval: it composes, it runs on made-up rows, its family says what it is."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from hydra_eval.config.task_config import task_config
from hydra_eval.config.task_index import task_index
from hydra_eval.config.task_source import options_for
from hydra_eval.config.task_yaml import read_task_yaml

from .compare import SHELF, Row, own_scores, own_work, write_splits
from .rows_choice import DATA

INDEX = task_index((SHELF,))
FAMILIES = sorted({path.parent.name for path in SHELF.glob("*/*.yaml")})
WRITTEN = "# Written by tasks/expand.py"


def built_here(path: Path) -> bool:
    """Of the files that one table writes, two are enough."""
    if not path.read_text(encoding="utf-8").startswith(WRITTEN):
        return True
    members = [other for other in sorted(path.parent.glob("*.yaml")) if INDEX.entries[other.stem].kind == "task"]
    return path in (members[0], members[-1])


TASKS = [name for name, entry in sorted(INDEX.entries.items()) if entry.kind == "task"]
BUILT = [
    name
    for name in TASKS
    if read_task_yaml(INDEX.entries[name].path).get("dataset_path") in DATA and built_here(INDEX.entries[name].path)
]


def test_every_file_can_be_read() -> None:
    assert INDEX.broken == {}
    assert INDEX.shadowed == {}


def test_every_name_composes() -> None:
    for name in INDEX.entries:
        content = options_for(name, INDEX)
        assert list(content["selection"][name]["tasks"].values())
        assert all(task_config(task).metric_list for task in content["tasks"].values())


@pytest.mark.parametrize("family", FAMILIES)
def test_family_says_what_it_is(family: str) -> None:
    title, _, text = (SHELF / family / "README.md").read_text(encoding="utf-8").partition("\n\n")
    assert title.startswith("# ")
    assert re.search(r"`[\w.-]+/[\w.*-]+`|this\s+project", text), "the data set"
    assert re.search(r"MIT|CC BY|AFL|Apache|licence", text), "its licence"
    assert re.search(r"[Mm]etrics?\b|exact match|accuracy|perplexity|pass@", text), "what is measured"
    assert re.search(r"[Uu]sual shots: \d", text), "how many examples are usual"


@pytest.mark.parametrize("name", BUILT)
def test_runs_on_made_up_rows(name: str, tmp_path: Path) -> None:
    path = INDEX.entries[name].path
    config = read_task_yaml(path)
    write_splits(tmp_path, path, DATA[config["dataset_path"]](config.get("dataset_name")))
    work = own_work(name, tmp_path, shots=1)
    scores = own_scores(work, replies)
    assert work.requests >= len(work.docs) > 2
    assert {metric["metric"] for metric in config["metric_list"]} == {metric for metric, _ in scores}


def replies(doc: Row) -> list[str]:
    return ["The answer is 42.", "the answer is (B).", ""]


def test_tables_have_written_their_files() -> None:
    expand = load(SHELF / "expand.py")
    for table in SHELF.glob("*/_table"):
        files = expand.expanded(expand.yaml.safe_load(table.read_text(encoding="utf-8")))
        assert {name: (table.parent / name).read_text(encoding="utf-8") for name in files} == files
        written = {path.name for path in table.parent.glob("*.yaml") if path.read_text().startswith(WRITTEN)}
        assert written == set(files)


def load(path: Path) -> ModuleType:
    """A script of the shelf as a module: `tasks/` is data, not a package."""
    spec = importlib.util.spec_from_file_location(f"shelf_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
