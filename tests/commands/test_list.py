from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from hydra_eval.commands.list import Listed, Wanted, as_json, counts, listing
from hydra_eval.config.task_index import TaskIndex, task_index
from hydra_eval.errors import UserError

CLASS = "task: python_made\nclass: !function code.Made\n"
FILES = {
    "capitals_de.yaml": "task: capitals_de\ntag: [geography, german]\ndoc_to_text: !function code.text\n",
    "capitals_fr.yaml": "task: capitals_fr\ntag: geography\n",
    "all.yaml": "group: capitals\ntask: [capitals_de, capitals_fr]\n",
    "made.yaml": CLASS,
    "bad.yaml": "task: [unclosed\n",
    "code.py": "raise AssertionError('a listing imports nothing')\n",
}


@pytest.fixture
def index(tmp_path: Path) -> TaskIndex:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return task_index((tmp_path,))


def names(index: TaskIndex, **wanted: Any) -> list[str]:
    return [listed.name for listed in listing(index, Wanted(**wanted))]


def test_everything_is_listed_by_kind(index: TaskIndex, tmp_path: Path) -> None:
    assert [(listed.kind, listed.name) for listed in listing(index, Wanted())] == [
        ("task", "capitals_de"),
        ("task", "capitals_fr"),
        ("class", "python_made"),
        ("group", "capitals"),
        ("tag", "geography"),
        ("tag", "german"),
        ("broken", str(tmp_path / "bad.yaml")),
    ]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"patterns": ("*_fr", "*_made")}, ["capitals_fr", "python_made"]),
        ({"kinds": ("group", "tag")}, ["capitals", "geography", "german"]),
        ({"tag": "german"}, ["capitals_de", "german"]),
        ({"language": "de"}, ["capitals_de", "german"]),
        ({"language": "french", "kinds": ("task",)}, ["capitals_fr"]),
        ({"folder": Path(__file__).parent, "kinds": ("task", "group")}, []),
    ],
    ids=["patterns", "kinds", "tag", "language", "language and kind", "folder"],
)
def test_only_what_is_wanted_is_listed(index: TaskIndex, wanted: dict[str, Any], found: list[str]) -> None:
    assert names(index, **wanted) == found


def test_a_broken_file_says_why(index: TaskIndex) -> None:
    (broken,) = listing(index, Wanted(kinds=("broken",)))
    assert "not valid YAML" in broken.note
    assert "line 2" in broken.note


def test_nothing_is_imported(index: TaskIndex) -> None:
    before = set(sys.modules)
    assert names(index)
    assert {name for name in set(sys.modules) - before if "code" in name} == set()


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"kinds": ("taks",)}, "--kind taks: unknown. Did you mean 'task'?"),
        ({"tag": "geografy"}, "--tag geografy: no task has it. Did you mean 'geography'?"),
        ({"language": "klingon"}, "--lang klingon: give an ISO 639 code"),
        ({"folder": Path("/nowhere")}, "--folder /nowhere: there is no such folder"),
    ],
    ids=["kind", "tag", "language", "folder"],
)
def test_what_does_not_exist_is_refused(index: TaskIndex, wanted: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as caught:
        listing(index, Wanted(**wanted))
    assert message in str(caught.value)


def test_json_has_everything_by_kind(index: TaskIndex, tmp_path: Path) -> None:
    found = json.loads(as_json(listing(index, Wanted())))
    assert list(found) == ["task", "class", "group", "tag", "broken"]
    assert found["task"]["capitals_de"] == {
        "file": str(tmp_path / "capitals_de.yaml"),
        "tags": ["geography", "german"],
    }
    assert found["tag"]["geography"]["note"] == "2 tasks"


def test_the_count_is_said() -> None:
    listed = [Listed(name="a", kind="task"), Listed(name="b", kind="task"), Listed(name="c", kind="group")]
    assert (counts(listed), counts([])) == ("2 tasks, 1 group", "nothing")
