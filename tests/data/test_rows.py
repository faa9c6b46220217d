from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hydra_eval.data.facts import SplitFacts
from hydra_eval.data.rows import BATCH, plain_rows, split_rows
from hydra_eval.data.source import Loaded
from hydra_eval.errors import UserError

from .builders import ROWS, rows, task

LOADED = Loaded(splits={"test": list(ROWS)})


def test_rows_of_a_data_set_are_plain_mappings_in_order() -> None:
    from datasets import Dataset

    given = [{"n": n, "of": {"a": [n], "b": None}} for n in range(2 * BATCH + 3)]
    assert list(plain_rows(Dataset.from_list(given))) == given


def test_a_data_set_is_read_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    from datasets import Dataset

    asked: list[Any] = []
    take = Dataset.__getitem__

    def counted(dataset: Any, key: Any) -> Any:
        asked.append(key)
        return take(dataset, key)

    monkeypatch.setattr(Dataset, "__getitem__", counted)
    assert len(list(plain_rows(Dataset.from_dict({"n": range(20_000)})))) == 20_000
    assert len(asked) == 20_000 / BATCH


def test_a_data_set_without_rows() -> None:
    from datasets import Dataset

    assert list(plain_rows(Dataset.from_list([]))) == []


def test_the_tasks_hook_sees_the_whole_data_set(tmp_path: Path) -> None:
    from ..toys import write_rows

    write_rows(tmp_path / "test.jsonl", ROWS)
    kwargs = {"data_files": {"test": "test.jsonl"}}
    hook: Any = lambda dataset: dataset.filter(lambda row: row["n"] > 1).map(lambda row: {"twice": row["n"] * 2})  # noqa: E731
    assert rows(task("json", tmp_path, dataset_kwargs=kwargs, process_docs=hook)) == [{**ROWS[1], "twice": 4}]


@pytest.mark.parametrize(
    ("process", "facts"),
    [
        (None, (2, 2, 0)),
        (lambda given: given[:1], (2, 1, 1)),
        (lambda given: given * 3, (2, 6, 0)),
    ],
    ids=["no hook", "dropping", "adding"],
)
def test_rows_are_counted(process: Any, facts: tuple[int, int, int]) -> None:
    read, kept, dropped = facts
    found = split_rows(LOADED, "test", process, where="t.yaml").facts
    assert found == SplitFacts(split="test", read=read, kept=kept, dropped=dropped)


def test_a_file_that_is_not_utf_8_is_told(tmp_path: Path) -> None:
    (tmp_path / "test.jsonl").write_bytes(b'{"text": "caf\xe9"}\n')
    with pytest.raises(
        UserError, match=r"t.yaml: the rows of split 'test' cannot be read: Unicode.*Save the file as UTF-8"
    ):
        rows(task("json", tmp_path, dataset_kwargs={"data_files": {"test": "test.jsonl"}}))


@pytest.mark.parametrize("processed", [None, 3, ["a"], {"text": ["one"]}, [{1: "one"}]], ids=repr)
def test_process_docs_that_gives_no_rows_is_told_with_the_file(processed: Any) -> None:
    with pytest.raises(UserError, match=r"t.yaml: process_docs must give rows"):
        split_rows(LOADED, "test", lambda given: processed, where="t.yaml")


@pytest.mark.parametrize("process", [list, iter], ids=["list", "iterator"])
def test_process_docs_may_give_any_iterable_of_rows(process: Any) -> None:
    assert split_rows(LOADED, "test", process, where="t.yaml").rows == ROWS


def test_an_error_in_process_docs_says_whose_it_is() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        split_rows(LOADED, "test", lambda given: 1 / 0, where="t.yaml")
    assert caught.value.__notes__ == ["in process_docs of t.yaml, split 'test'"]
