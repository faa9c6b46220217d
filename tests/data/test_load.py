from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from hydra_eval.config.schema import DataConfig
from hydra_eval.data.load import load
from hydra_eval.data.resolve import source_of
from hydra_eval.data.source import Source
from hydra_eval.errors import UserError
from hydra_eval.hub import go_offline_if_unreachable

from ..toys import write_rows
from .builders import ROWS, rows, splits, task, without_rights

BROKEN: dict[str, tuple[str, str, str]] = {
    "a line": ("json", '{"a": 1}\n{"a": \n{"a": 3}\n', r"test.json, line 2: Expecting value in '{\"a\":"),
    "a row": ("json", '{"a": 1}\n3\n', "test.json, line 2: a row must be an object, not '3'"),
    "a list": ("json", '[{"a": 1},\n {"a": 2}\n', "test.json, line 3: Expecting ',' delimiter"),
    "a list without rows": ("json", "[]", "a split has no rows: .*test.json"),
    "nothing": ("json", "", "test.json is empty"),
    "blank lines": ("json", "\n\n", "a split has no rows: .*test.json"),
    "a long line of a table": ("csv", "a,b\n1,2\n3,4,5\n", "Expected 2 fields in line 3, saw 3"),
    "a table without rows": ("csv", "a,b\n", "a split has no rows: .*test.csv"),
    "no table": ("parquet", "not a table", "test.parquet|Parquet"),
}


@pytest.mark.parametrize(("builder", "content", "message"), BROKEN.values(), ids=BROKEN)
def test_a_file_that_cannot_be_read_is_told_with_its_fault(
    tmp_path: Path, builder: str, content: str, message: str
) -> None:
    (tmp_path / f"test.{builder}").write_text(content, encoding="utf-8")
    config = task(builder, tmp_path, dataset_kwargs={"data_files": {"test": f"test.{builder}"}})
    with pytest.raises(UserError, match=f"(?s)t.yaml: .*{message}"):
        splits(config)


def test_a_fault_in_a_packed_file_is_found_too(tmp_path: Path) -> None:
    (tmp_path / "test.jsonl.gz").write_bytes(gzip.compress(b'{"a": 1}\n{nope\n'))
    config = task("json", tmp_path, dataset_kwargs={"data_files": {"test": "test.jsonl.gz"}})
    with pytest.raises(UserError, match=r"test.jsonl.gz, line 2: Expecting property name"):
        splits(config)


def test_a_fault_below_the_root_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "org" / "name" / "default").mkdir(parents=True)
    (tmp_path / "org" / "name" / "default" / "test.jsonl").write_text("{nope\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"data set 'org/name' cannot be read: .*default/test.jsonl, line 1"):
        splits(task("org/name", tmp_path), root=str(tmp_path))


def test_tables_with_other_columns_are_told(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("a\n1\n", encoding="utf-8")
    config = task("csv", tmp_path, dataset_kwargs={"data_files": {"test": ["a.csv", "b.csv"]}})
    with pytest.raises(UserError, match=r"(?s)data set 'csv' cannot be read: .*Schema at index 1 was different"):
        splits(config)


def test_a_file_without_the_right_to_read_it(tmp_path: Path) -> None:
    write_rows(tmp_path / "test.jsonl", ROWS)
    config = task("json", tmp_path, dataset_kwargs={"data_files": {"test": "test.jsonl"}})
    with (
        without_rights(tmp_path / "test.jsonl"),
        pytest.raises(UserError, match=r"(?i)t.yaml: .*permission denied"),
    ):
        splits(config)


def test_a_folder_without_data(tmp_path: Path) -> None:
    (tmp_path / "bare").mkdir()
    with pytest.raises(UserError, match=r"data set './bare' cannot be read: EmptyDatasetError: .*any data files"):
        splits(task("./bare", tmp_path))


def test_an_unknown_split_names_the_nearest_and_those_that_are_there(tmp_path: Path) -> None:
    for split in ("validation", "train"):
        write_rows(tmp_path / f"{split}.jsonl", ROWS)
    kwargs = {"data_files": {split: f"{split}.jsonl" for split in ("train", "validation")}}
    with pytest.raises(UserError, match=r"no split 'validaton'. Did you mean 'validation'\? Splits: train, validation"):
        rows(task("json", tmp_path, dataset_kwargs=kwargs), split="validaton")


def test_a_hub_name_that_is_nowhere_offline_says_where_it_would_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import datasets
    from huggingface_hub import constants

    go_offline_if_unreachable.cache_clear()
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    with pytest.raises(UserError, match=r"org/none/sub' is not cached here .* DIR/org/none/sub/SPLIT.jsonl"):
        splits(task("org/none", tmp_path, dataset_name="sub"), root=str(tmp_path), retries=5)
    go_offline_if_unreachable.cache_clear()


def test_types_of_columns_may_be_given(tmp_path: Path) -> None:
    write_rows(tmp_path / "test.jsonl", [{"n": 1, "words": ["a"]}])
    features = {"n": {"dtype": "string"}, "words": {"dtype": "string", "sequence": True}}
    kwargs = {"data_files": {"test": "test.jsonl"}, "features": features}
    assert rows(task("json", tmp_path, dataset_kwargs=kwargs)) == [{"n": "1", "words": ["a"]}]


def test_a_function_of_the_task_gives_its_splits() -> None:
    source = Source(kind="function", title="f", where="t.yaml", make=lambda: {"test": list(ROWS)}, owner="t")
    assert load(source).splits == {"test": list(ROWS)}


def test_an_error_in_such_a_function_says_whose_it_is() -> None:
    source = Source(kind="function", title="f", where="t.yaml", make=lambda: {"test": 1 / 0}, owner="t")
    with pytest.raises(ZeroDivisionError) as caught:
        load(source)
    assert caught.value.__notes__ == ["in custom_dataset of t.yaml"]


def test_local_rows_have_no_commit(tmp_path: Path) -> None:
    write_rows(tmp_path / "test.jsonl", ROWS)
    config = task("json", tmp_path, dataset_kwargs={"data_files": {"test": "test.jsonl"}})
    assert load(source_of(config, DataConfig())).commit is None


def test_an_address_that_does_not_answer_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kwargs: dict[str, Any] = {"data_files": {"test": "https://host.invalid/test.jsonl"}}
    monkeypatch.setattr("hydra_eval.hub.socket.create_connection", _refused)
    with pytest.raises(UserError, match=r"no answer from https://host.invalid/test.jsonl within 3 s"):
        splits(task("json", tmp_path, dataset_kwargs=kwargs), retries=5)


def _refused(*arguments: Any, **options: Any) -> None:
    raise ConnectionRefusedError


@pytest.mark.parametrize(("failures", "works"), [(2, True), (3, False)])
def test_a_server_that_fails_is_asked_again_and_named_in_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failures: int, works: bool
) -> None:
    import datasets

    write_rows(tmp_path / "test.jsonl", ROWS)
    config = task("json", tmp_path, dataset_kwargs={"data_files": {"test": "test.jsonl"}})
    left = [ConnectionError("reset by peer")] * failures
    load_dataset = datasets.load_dataset

    def failing(*arguments: Any, **options: Any) -> Any:
        if left:
            raise left.pop()
        return load_dataset(*arguments, **options)

    monkeypatch.setattr(datasets, "load_dataset", failing)
    slept: list[float] = []
    source = source_of(config, DataConfig())
    if works:
        assert len(load(source, retries=2, sleep=slept.append).splits["test"]) == 2
    else:
        with pytest.raises(UserError, match=r"'json' cannot be read in 3 tries: ConnectionError: reset by peer"):
            load(source, retries=2, sleep=slept.append)
    assert len(slept) == 2
