"""Every place that a data set may be in, each read with the network shut."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hydra_eval.config.schema import DataConfig
from hydra_eval.data.resolve import source_of
from hydra_eval.errors import UserError

from ..toys import write_rows
from .builders import FORMATS, ROWS, rows, saved, splits, task


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("subset", [None, "sub"])
def test_a_hub_name_is_found_below_the_data_root_in_every_format(
    tmp_path: Path, ending: str, subset: str | None
) -> None:
    folder = tmp_path / "org" / "name" / (subset or "default")
    folder.mkdir(parents=True)
    FORMATS[ending](folder / f"test.{ending}")
    assert rows(task("org/name", tmp_path, dataset_name=subset), root=str(tmp_path)) == list(ROWS)


def test_every_file_below_the_root_is_a_split_and_other_files_are_none(tmp_path: Path) -> None:
    folder = tmp_path / "org" / "name" / "default"
    folder.mkdir(parents=True)
    for name in ("train.jsonl", "test-1.jsonl", "validation.json"):
        write_rows(folder / name, ROWS)
    for name in ("README.md", "LICENSE.txt", ".test.jsonl", "._train.jsonl"):
        (folder / name).write_text("x", encoding="utf-8")
    assert set(splits(task("org/name", tmp_path), root=str(tmp_path))) == {"train", "test-1", "validation"}


def test_an_empty_split_below_the_root_matters_only_to_who_wants_it(tmp_path: Path) -> None:
    folder = tmp_path / "org" / "name" / "default"
    folder.mkdir(parents=True)
    (folder / "train.jsonl").touch()
    write_rows(folder / "test.jsonl", ROWS)
    assert splits(task("org/name", tmp_path), root=str(tmp_path)) == {"test": list(ROWS), "train": []}


def test_the_only_subset_below_the_root_is_what_a_task_without_one_gets(tmp_path: Path) -> None:
    folder, root = tmp_path / "root" / "org" / "name", str(tmp_path / "root")
    (folder / "sub").mkdir(parents=True)
    write_rows(folder / "sub" / "test.jsonl", ROWS)
    assert rows(task("org/name", tmp_path), root=root) == list(ROWS)
    (folder / "other").mkdir()
    assert source_of(task("org/name", tmp_path), DataConfig(root=root)).kind == "hub"


def test_a_split_that_lies_there_twice_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "org" / "name" / "default"
    folder.mkdir(parents=True)
    for name in ("test.csv", "test.jsonl"):
        (folder / name).touch()
    with pytest.raises(UserError, match=r"t.yaml: the split 'test' is both \S*test.csv and \S*test.jsonl. Keep one."):
        source_of(task("org/name", tmp_path), DataConfig(root=str(tmp_path)))


@pytest.mark.parametrize("place", ["org/name", "org/name/default", "org/name/sub"])
def test_a_data_set_saved_below_the_root(tmp_path: Path, place: str) -> None:
    saved(train=ROWS[:1], test=ROWS).save_to_disk(tmp_path / place)
    config = task("org/name", tmp_path, dataset_name="sub" if place.endswith("sub") else None)
    assert splits(config, root=str(tmp_path)) == {"train": [ROWS[0]], "test": list(ROWS)}


def test_splits_saved_below_the_root_one_by_one(tmp_path: Path) -> None:
    for split, dataset in saved(train=ROWS[:1], test=ROWS).items():
        dataset.save_to_disk(tmp_path / "org" / "name" / "default" / split)
    assert splits(task("org/name", tmp_path), root=str(tmp_path)) == {"train": [ROWS[0]], "test": list(ROWS)}


def test_a_copy_of_a_repository_below_the_root_is_read_by_its_card(tmp_path: Path) -> None:
    copy = tmp_path / "org" / "name"
    (copy / "data").mkdir(parents=True)
    write_rows(copy / "data" / "rows.jsonl", ROWS)
    card = "---\nconfigs:\n- config_name: sub\n  data_files:\n  - {split: test, path: data/rows.jsonl}\n---\n"
    (copy / "README.md").write_text(card, encoding="utf-8")
    assert splits(task("org/name", tmp_path, dataset_name="sub"), root=str(tmp_path)) == {"test": list(ROWS)}


def test_files_of_a_repository_below_the_root_and_no_other_rows_in_their_place(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "org" / "name" / "default").mkdir(parents=True)
    write_rows(root / "org" / "name" / "default" / "test.jsonl", ROWS[:1])
    write_rows(root / "org" / "name" / "b.jsonl", ROWS)
    held, missing = ({"data_files": {"test": f"{name}.jsonl"}} for name in ("b", "c"))
    assert rows(task("org/name", tmp_path, dataset_kwargs=held), root=str(root)) == list(ROWS)
    source = source_of(task("org/name", tmp_path, dataset_kwargs=missing), DataConfig(root=str(root)))
    assert source.kind == "hub"


def test_a_file_on_the_hub_is_read_from_its_copy_below_the_root(tmp_path: Path) -> None:
    (tmp_path / "org" / "name" / "data").mkdir(parents=True)
    write_rows(tmp_path / "org" / "name" / "data" / "x.jsonl", ROWS)
    kwargs = {"data_files": {"test": "hf://datasets/org/name@main/data/x.jsonl"}}
    config = task("json", tmp_path, dataset_kwargs=kwargs)
    assert rows(config, root=str(tmp_path)) == list(ROWS)
    assert source_of(config, DataConfig(root=str(tmp_path))).kind == "root"
    assert source_of(config, DataConfig()).kind == "hub"


@pytest.mark.parametrize("ending", FORMATS)
def test_every_builder_reads_its_format(tmp_path: Path, ending: str) -> None:
    FORMATS[ending](tmp_path / f"rows.{ending}")
    builder = ending.removesuffix(".gz").replace("jsonl", "json")
    config = task(builder, tmp_path, dataset_kwargs={"data_files": {"test": f"rows.{ending}"}})
    assert rows(config) == list(ROWS)


def test_the_builder_for_texts_gives_a_row_for_each_line(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n", encoding="utf-8")
    config = task("text", tmp_path, dataset_kwargs={"data_files": {"test": "a.txt"}})
    assert rows(config) == [{"text": "one"}, {"text": "two"}]


@pytest.mark.parametrize(
    ("files", "split"),
    [
        ("data/a-1.jsonl", "train"),
        (["data/a-1.jsonl"], "train"),
        ({"test": "data/a-1.jsonl"}, "test"),
        ({"test": ["data/a-1.jsonl"]}, "test"),
        ({"test": "data/a-*.jsonl"}, "test"),
        ({"test": "data"}, "test"),
        ("data", "train"),
    ],
    ids=["file", "list", "map", "map of lists", "map of patterns", "map of folders", "folder"],
)
def test_relative_files_of_a_builder_count_from_the_task_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: Any, split: str
) -> None:
    (tmp_path / "task" / "data").mkdir(parents=True)
    write_rows(tmp_path / "task" / "data" / "a-1.jsonl", ROWS)
    (tmp_path / "task" / "data" / "notes.md").write_text("no rows", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert rows(task("json", tmp_path / "task", dataset_kwargs={"data_files": files}), split=split) == list(ROWS)


def test_relative_files_count_from_the_working_folder_where_the_task_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_rows(tmp_path / "test.jsonl", ROWS)
    monkeypatch.chdir(tmp_path)
    kwargs = {"data_files": {"test": "test.jsonl"}}
    assert rows(task("json", tmp_path / "elsewhere", dataset_kwargs=kwargs)) == list(ROWS)


def test_the_files_of_a_pattern_come_in_order_of_their_names(tmp_path: Path) -> None:
    write_rows(tmp_path / "a-2.jsonl", ROWS[1:])
    write_rows(tmp_path / "a-1.jsonl", ROWS[:1])
    assert rows(task("json", tmp_path, dataset_kwargs={"data_files": {"test": "a-*.jsonl"}})) == list(ROWS)


def test_data_dir_counts_from_the_task_file(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    write_rows(tmp_path / "data" / "test.jsonl", ROWS)
    assert rows(task("json", tmp_path, dataset_kwargs={"data_dir": "data"})) == list(ROWS)


@pytest.mark.parametrize("path", ["./set", "set", "{folder}/set"])
def test_a_local_folder_is_a_data_set(tmp_path: Path, path: str) -> None:
    (tmp_path / "set").mkdir()
    write_rows(tmp_path / "set" / "test.jsonl", ROWS)
    assert rows(task(path.format(folder=tmp_path), tmp_path)) == list(ROWS)


def test_a_local_folder_that_was_saved(tmp_path: Path) -> None:
    saved(train=ROWS[:1], test=ROWS).save_to_disk(tmp_path / "whole")
    assert splits(task("./whole", tmp_path)) == {"train": [ROWS[0]], "test": list(ROWS)}


def test_one_saved_split_without_a_name_is_called_train(tmp_path: Path) -> None:
    saved(test=ROWS)["test"].save_to_disk(tmp_path / "one")
    assert splits(task("./one", tmp_path)) == {"train": list(ROWS)}


def test_a_root_does_not_hide_what_it_does_not_hold(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    write_rows(tmp_path / "test.jsonl", ROWS)
    kwargs = {"data_files": {"test": "test.jsonl"}}
    assert rows(task("json", tmp_path, dataset_kwargs=kwargs), root=str(tmp_path / "root")) == list(ROWS)


def test_real_data_below_a_root(tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[3] / "shared" / "data"
    if not root.is_dir():
        pytest.skip("needs ../shared/data: real data sets in the hub's layout")
    found = rows(task("allenai/ai2_arc", tmp_path, dataset_name="ARC-Easy"), root=str(root))
    assert found and set(found[0]) == {"id", "question", "choices", "answerKey"}


@pytest.mark.parametrize(("allowed", "passed_on"), [(False, False), (True, True)])
def test_trust_remote_code_is_dropped_unless_the_run_allows_it(tmp_path: Path, allowed: bool, passed_on: bool) -> None:
    config = task("org/name", tmp_path, dataset_kwargs={"trust_remote_code": True, "revision": "v1"})
    (part,) = source_of(config, DataConfig(trust_remote_code=allowed)).parts
    assert part.kwargs == {"revision": "v1"} | ({"trust_remote_code": True} if passed_on else {})


def test_arguments_for_the_hub_are_handed_on(tmp_path: Path) -> None:
    kwargs = {"revision": "v1", "data_files": {"test": "a.csv"}, "data_dir": "b", "verification_mode": "no_checks"}
    source = source_of(task("org/name", tmp_path, dataset_name="sub", dataset_kwargs=kwargs), DataConfig())
    assert (source.kind, source.revision, source.parts[0].name) == ("hub", "v1", "sub")
    assert source.parts[0].kwargs == kwargs


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"dataset_name": "a"}, {"dataset_name": "a", "doc_to_text": "x"}, True),
        ({"dataset_name": "a"}, {"dataset_name": "b"}, False),
        ({"dataset_kwargs": {"revision": "1"}}, {"dataset_kwargs": {"revision": "2"}}, False),
        ({"dataset_kwargs": None}, {"dataset_kwargs": {}}, True),
        ({}, {"dataset_kwargs": {"features": {"a": {"dtype": "string"}}}}, False),
    ],
    ids=["same", "subset", "revision", "no arguments", "features"],
)
def test_tasks_share_a_data_set_that_is_asked_for_alike(
    tmp_path: Path, one: dict[str, Any], other: dict[str, Any], same: bool
) -> None:
    (tmp_path / "elsewhere").mkdir()
    first = source_of(task("org/name", tmp_path, **one), DataConfig())
    second = source_of(task("org/name", tmp_path / "elsewhere", **other), DataConfig())
    assert (first.key == second.key) is same


@pytest.mark.parametrize(
    ("path", "kwargs", "message"),
    [
        (None, None, "'dataset_path' is missing"),
        ("json", {"data_files": "no.jsonl"}, "the data file 'no.jsonl' exists neither in .* nor in the working folder"),
        ("json", {"data_files": {"test": ["no-*.jsonl"]}}, "the data file 'no-\\*.jsonl' exists neither"),
        ("json", {"data_files": 3}, "data_files must name files, but has 3"),
        ("json", {"data_files": None}, "data_files must name files, but has None"),
        ("json", {"data_files": {"test": [1]}}, "data_files must name files, but has 1"),
        ("json", {"data_files": {"test": "bare"}}, "data_files names the folder .*bare, which has no file for 'json'"),
        ("json", {"data_dir": "no"}, "data_dir='no': there is no such folder"),
        ("./no", None, "dataset_path './no': there is no such folder"),
        ("/not/there", None, "dataset_path '/not/there': there is no such folder"),
        ("./t.jsonl", None, "'./t.jsonl' is a file: write a builder .*json.* and the file under .*data_files"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_data_that_is_not_there(tmp_path: Path, path: str | None, kwargs: Any, message: str) -> None:
    (tmp_path / "bare").mkdir()
    write_rows(tmp_path / "t.jsonl", ROWS)
    with pytest.raises(UserError, match=f"(?s)t.yaml: .*{message}"):
        source_of(task(path, tmp_path, dataset_kwargs=kwargs), DataConfig())


def test_a_root_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^data.root=\S*none: there is no such folder"):
        source_of(task("org/name", tmp_path), DataConfig(root=str(tmp_path / "none")))
