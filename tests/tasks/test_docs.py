from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hydra_eval.config.schema import DataConfig
from hydra_eval.config.task_config import TaskConfig
from hydra_eval.errors import UserError
from hydra_eval.hub import go_offline_if_unreachable
from hydra_eval.tasks.docs import load_splits, rows_of

from ..toys import write_rows

ROWS = [{"text": 'one\tand, "two"', "n": 1}, {"text": "zwei\u2028", "n": 2}]


def write_csv(path: Path, separator: str) -> None:
    import csv

    with path.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.DictWriter(handle, ["text", "n"], delimiter=separator)
        writer.writeheader()
        writer.writerows(ROWS)


def write_arrow(path: Path) -> None:
    from datasets.arrow_writer import ArrowWriter

    with ArrowWriter(path=str(path)) as writer:
        for row in ROWS:
            writer.write(row)
        writer.finalize()


def write_parquet(path: Path) -> None:
    from datasets import Dataset

    Dataset.from_list(ROWS).to_parquet(path)


FORMATS: dict[str, Callable[[Path], Any]] = {
    "jsonl": lambda path: write_rows(path, ROWS),
    "json": lambda path: path.write_text(json.dumps(ROWS), encoding="utf-8"),
    "csv": lambda path: write_csv(path, ","),
    "tsv": lambda path: write_csv(path, "\t"),
    "parquet": write_parquet,
    "arrow": write_arrow,
}


def task(path: str | None, folder: Path, **changes: Any) -> TaskConfig:
    return TaskConfig(task="t", file=str(folder / "t.yaml"), dataset_path=path, test_split="test", **changes)


def rows(config: TaskConfig, root: Path | None = None, split: str = "test") -> list[dict[str, Any]]:
    splits = load_splits(config, DataConfig(root=None if root is None else str(root)))
    return rows_of(splits, split, config, config.process_docs)


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("subset", [None, "sub"])
def test_a_hub_name_is_found_below_the_data_root_in_every_format(
    tmp_path: Path, ending: str, subset: str | None
) -> None:
    folder = tmp_path / "org" / "name" / (subset or "default")
    folder.mkdir(parents=True)
    FORMATS[ending](folder / f"test.{ending}")
    assert rows(task("org/name", tmp_path, dataset_name=subset), tmp_path) == ROWS


def test_every_file_below_the_root_is_a_split_and_other_files_are_none(tmp_path: Path) -> None:
    folder = tmp_path / "org" / "name" / "default"
    folder.mkdir(parents=True)
    for name in ("train.jsonl", "test.jsonl", "validation.json"):
        write_rows(folder / name, ROWS)
    (folder / "README.md").write_text("x", encoding="utf-8")
    assert set(load_splits(task("org/name", tmp_path), DataConfig(root=str(tmp_path)))) == {
        "train",
        "test",
        "validation",
    }


def test_an_unknown_split_names_the_nearest_and_those_that_are_there(tmp_path: Path) -> None:
    folder = tmp_path / "org" / "name" / "default"
    folder.mkdir(parents=True)
    write_rows(folder / "validation.jsonl", ROWS)
    write_rows(folder / "train.jsonl", ROWS)
    with pytest.raises(UserError, match=r"no split 'validaton'. Did you mean 'validation'\? Splits: train, validation"):
        rows(task("org/name", tmp_path), tmp_path, split="validaton")


@pytest.mark.parametrize("files", ["data/test.jsonl", {"test": "data/test.jsonl"}, {"test": ["data/test.jsonl"]}])
def test_relative_files_of_a_builder_count_from_the_task_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: Any
) -> None:
    (tmp_path / "task" / "data").mkdir(parents=True)
    write_rows(tmp_path / "task" / "data" / "test.jsonl", ROWS)
    monkeypatch.chdir(tmp_path)
    split = "test" if isinstance(files, dict) else "train"
    assert rows(task("json", tmp_path / "task", dataset_kwargs={"data_files": files}), split=split) == ROWS


def test_relative_files_count_from_the_working_folder_where_the_task_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_rows(tmp_path / "test.jsonl", ROWS)
    monkeypatch.chdir(tmp_path)
    kwargs = {"data_files": {"test": "test.jsonl"}}
    assert rows(task("json", tmp_path / "elsewhere", dataset_kwargs=kwargs)) == ROWS


def test_a_pattern_of_files(tmp_path: Path) -> None:
    write_rows(tmp_path / "a-1.jsonl", ROWS[:1])
    write_rows(tmp_path / "a-2.jsonl", ROWS[1:])
    assert rows(task("json", tmp_path, dataset_kwargs={"data_files": {"test": "a-*.jsonl"}})) == ROWS


@pytest.mark.parametrize(
    ("path", "kwargs", "message"),
    [
        (None, None, "'dataset_path' is missing"),
        (
            "json",
            {"data_files": "none.jsonl"},
            "the data file 'none.jsonl' exists neither in .* nor in the working folder",
        ),
        ("json", {"data_files": {"test": ["none-*.jsonl"]}}, "the data file 'none-\\*.jsonl' exists neither"),
        ("./none", None, "dataset_path './none': there is no such folder"),
        ("/not/there", None, "dataset_path '/not/there': there is no such folder"),
        ("json", {"data_files": {"test": "broken.jsonl"}}, "the data set 'json' cannot be read"),
    ],
)
def test_data_that_is_not_there(tmp_path: Path, path: str | None, kwargs: Any, message: str) -> None:
    (tmp_path / "broken.jsonl").write_text('{"a": \n', encoding="utf-8")
    with pytest.raises(UserError, match=f"(?s)t.yaml: {message}"):
        load_splits(task(path, tmp_path, dataset_kwargs=kwargs), DataConfig())


def test_a_root_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^data.root=\S*none: there is no such folder"):
        load_splits(task("org/name", tmp_path), DataConfig(root=str(tmp_path / "none")))


def test_a_hub_name_that_is_nowhere_offline_says_where_it_would_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import datasets
    from huggingface_hub import constants

    go_offline_if_unreachable.cache_clear()
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    with pytest.raises(UserError, match=r"org/none/sub' is not cached here .* DIR/org/none/sub/SPLIT.jsonl"):
        load_splits(task("org/none", tmp_path, dataset_name="sub"), DataConfig(root=str(tmp_path)))
    go_offline_if_unreachable.cache_clear()


def test_a_local_folder_is_a_data_set(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    write_rows(tmp_path / "set" / "test.jsonl", ROWS)
    assert rows(task("./set", tmp_path)) == ROWS
    assert rows(task(str(tmp_path / "set"), tmp_path / "elsewhere")) == ROWS


def test_trust_remote_code_is_left_out(tmp_path: Path) -> None:
    write_rows(tmp_path / "test.jsonl", ROWS)
    kwargs = {"data_files": {"test": "test.jsonl"}, "trust_remote_code": True}
    assert rows(task("json", tmp_path, dataset_kwargs=kwargs)) == ROWS


def test_the_tasks_hook_sees_the_whole_data_set(tmp_path: Path) -> None:
    write_rows(tmp_path / "test.jsonl", ROWS)
    kwargs = {"data_files": {"test": "test.jsonl"}}
    hook: Any = lambda dataset: dataset.filter(lambda row: row["n"] > 1).map(lambda row: {"twice": row["n"] * 2})  # noqa: E731
    assert rows(task("json", tmp_path, dataset_kwargs=kwargs, process_docs=hook)) == [{**ROWS[1], "twice": 4}]


def test_a_root_does_not_hide_what_it_does_not_hold(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    write_rows(tmp_path / "test.jsonl", ROWS)
    kwargs = {"data_files": {"test": "test.jsonl"}}
    assert rows(task("json", tmp_path, dataset_kwargs=kwargs), tmp_path / "root") == ROWS


def test_real_data_below_a_root(tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[3] / "shared" / "data"
    if not root.is_dir():
        pytest.skip("needs ../shared/data: real data sets in the hub's layout")
    found = rows(task("allenai/ai2_arc", tmp_path, dataset_name="ARC-Easy"), root)
    assert found and set(found[0]) == {"id", "question", "choices", "answerKey"}


@pytest.mark.parametrize("processed", [None, 3, ["a"], {"text": ["one"]}, [{1: "one"}]], ids=repr)
def test_process_docs_that_gives_no_rows_is_told_with_the_file(tmp_path: Path, processed: Any) -> None:
    config = task("json", tmp_path)
    with pytest.raises(UserError, match=r"t.yaml: process_docs must give rows"):
        rows_of({"test": ROWS}, "test", config, lambda dataset: processed)


@pytest.mark.parametrize("process", [list, iter], ids=["list", "iterator"])
def test_process_docs_may_give_any_iterable_of_rows(tmp_path: Path, process: Any) -> None:
    assert rows_of({"test": ROWS}, "test", task("json", tmp_path), process) == ROWS


def test_an_error_in_process_docs_says_whose_it_is(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        rows_of({"test": ROWS}, "test", task("json", tmp_path), lambda dataset: 1 / 0)
    assert caught.value.__notes__ == [f"in process_docs of {tmp_path}/t.yaml, split 'test'"]


def test_a_file_that_cannot_be_parsed_says_why(tmp_path: Path) -> None:
    (tmp_path / "test.jsonl").write_text("{nope\n", encoding="utf-8")
    with pytest.raises(UserError, match="JSON parse error"):
        rows(task("json", tmp_path, dataset_kwargs={"data_files": {"test": "test.jsonl"}}))


@pytest.mark.parametrize("files", [3, None, {"test": [1]}], ids=repr)
def test_data_files_that_are_no_names(tmp_path: Path, files: Any) -> None:
    with pytest.raises(UserError, match="data_files must name files"):
        rows(task("json", tmp_path, dataset_kwargs={"data_files": files}))
