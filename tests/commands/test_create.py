from __future__ import annotations

import json
from pathlib import Path

import pytest

from hydra_eval.commands.create import create, data_of
from hydra_eval.commands.draft import Fields
from hydra_eval.commands.validate import validate
from hydra_eval.errors import UserError

from ..data.builders import FORMATS

pytestmark = pytest.mark.usefixtures("tasks")
ROWS = [{"question": f"Number {n}?", "choices": ["odd", "even"], "answer": n % 2, "text": "A text."} for n in range(4)]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with a train and a test file."""
    folder = tmp_path / "rows"
    folder.mkdir()
    for split in ("train", "test"):
        (folder / f"{split}.jsonl").write_text("\n".join(map(json.dumps, ROWS)), encoding="utf-8")
    return folder


@pytest.mark.parametrize("kind", ["choice", "generation", "perplexity"])
@pytest.mark.parametrize("source", [".", "test.jsonl"], ids=["folder", "file"])
def test_what_is_created_passes_every_check(kind: str, source: str, data: Path, tmp_path: Path) -> None:
    path = tmp_path / "new" / f"made_{kind}.yaml"
    target = "{{choices[answer]}}" if kind == "generation" else None
    where = data_of(str(data / source), None, path.parent)
    create(path, kind=kind, data=where, given=Fields(target=target))
    (verdict,) = validate([str(path)], ["model=dummy"])
    assert verdict.errors == {}
    assert "scores" in verdict.passed


@pytest.mark.parametrize("ending", FORMATS)
def test_a_file_of_any_format_becomes_a_task(ending: str, tmp_path: Path) -> None:
    FORMATS[ending](tmp_path / f"rows.{ending}")
    where = data_of(str(tmp_path / f"rows.{ending}"), None, tmp_path)
    create(tmp_path / "made.yaml", kind="generation", data=where, given=Fields(target="text"))
    (verdict,) = validate([str(tmp_path / "made.yaml")], ["model=dummy"])
    assert (verdict.errors, "scores" in verdict.passed) == ({}, True)


def test_a_folder_is_read_by_splits_without_hidden_files(tmp_path: Path) -> None:
    for name in ("train.csv.gz", "test.csv", ".test.csv"):
        (tmp_path / name).touch()
    found = data_of(str(tmp_path), None, tmp_path)["dataset_kwargs"]["data_files"]
    assert found == {"train": "train.csv.gz", "test": "test.csv"}


def test_a_folder_that_cannot_be_written_is_said(data: Path, tmp_path: Path) -> None:
    (tmp_path / "taken").touch()
    path = tmp_path / "taken" / "x.yaml"
    with pytest.raises(UserError, match=r"taken/x.yaml cannot be written: .* Name another --folder"):
        create(path, kind="choice", data=data_of(str(data), None, path.parent), given=Fields())


def test_files_are_named_as_seen_from_the_task(data: Path, tmp_path: Path) -> None:
    found = data_of(str(data / "test.jsonl"), None, tmp_path / "deep" / "tasks")
    assert found["dataset_kwargs"] == {"data_files": {"test": "../../rows/test.jsonl"}}


def test_anything_else_is_a_data_set_of_the_hub(tmp_path: Path) -> None:
    assert data_of("org/name", "sub", tmp_path) == {"dataset_path": "org/name", "dataset_name": "sub"}


def test_a_task_file_is_never_overwritten(data: Path, tmp_path: Path) -> None:
    path = tmp_path / "old.yaml"
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(UserError, match=r"old.yaml exists already"):
        create(path, kind="choice", data=data_of(str(data), None, tmp_path), given=Fields())
    assert path.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("source", "message"),
    [("gone.jsonl", "there is no such data file"), ("empty", "the folder holds no data files")],
    ids=["no such file", "no data files"],
)
def test_data_that_is_not_there_is_said(source: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match=message):
        data_of(str(tmp_path / source), None, tmp_path)


def test_an_unknown_kind_and_a_bad_name_are_refused(data: Path, tmp_path: Path) -> None:
    where = data_of(str(data), None, tmp_path)
    with pytest.raises(UserError, match=r"--kind chioce: unknown\. Did you mean 'choice'"):
        create(tmp_path / "x.yaml", kind="chioce", data=where, given=Fields())
    for name in ("a b", "", "..", "-x", "a|5"):
        with pytest.raises(UserError, match="is no good name for a task"):
            create(tmp_path / f"{name}.yaml", kind="choice", data=where, given=Fields())
