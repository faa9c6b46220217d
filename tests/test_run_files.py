from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hydra_eval.errors import UserError
from hydra_eval.file_names import samples_name
from hydra_eval.run_files import write_lines, write_results, write_samples

from .results.test_aggregate import row


@pytest.mark.parametrize(
    ("task", "name"),
    [
        ("toy", "samples_toy.jsonl"),
        ("toy|5", "samples_toy_5.jsonl"),
        ("mmlu:law/x", "samples_mmlu_law_x.jsonl"),
        ("a.b-c=d", "samples_a.b-c=d.jsonl"),
        ("тест", "samples_____.jsonl"),
    ],
)
def test_a_samples_file_per_task(tmp_path: Path, task: str, name: str) -> None:
    assert write_samples(tmp_path, task, [row(0), row(1)]) == tmp_path / name
    lines = (tmp_path / name).read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["doc_id"] for line in lines] == [0, 1]


def test_results_are_indented_and_keep_their_order(tmp_path: Path) -> None:
    path = write_results(tmp_path, {"z": 1, "a": {"é": np.float64(0.5), "n": np.int64(3), "b": np.bool_(True)}})
    assert path.read_text(encoding="utf-8") == (
        '{\n  "z": 1,\n  "a": {\n    "é": 0.5,\n    "n": 3,\n    "b": true\n  }\n}\n'
    )


@pytest.mark.parametrize(
    ("value", "expected"),
    [(np.array([1, 2]), "[1 2]"), (Path("x"), "x"), ({2, 1}, [1, 2]), ({"b", "a", "c"}, ["a", "b", "c"])],
    ids=["array", "path", "set of numbers", "set of texts"],
)
def test_what_json_does_not_know_is_written_as_what_it_does(tmp_path: Path, value: Any, expected: Any) -> None:
    found = json.loads(write_results(tmp_path, {"value": value}).read_text(encoding="utf-8"))["value"]
    assert found == expected


def test_what_is_no_number_stays_so(tmp_path: Path) -> None:
    found = json.loads(write_results(tmp_path, {"value": math.nan}).read_text(encoding="utf-8"))["value"]
    assert math.isnan(found)


def test_an_old_file_stays_whole_until_the_new_one_is(tmp_path: Path) -> None:
    def lines() -> Any:
        yield "new"
        assert (tmp_path / "x").read_text(encoding="utf-8") == "old\n"
        raise ZeroDivisionError

    write_lines(tmp_path / "x", ["old"])
    with pytest.raises(ZeroDivisionError):
        write_lines(tmp_path / "x", lines())
    assert (tmp_path / "x").read_text(encoding="utf-8") == "old\n"


def test_no_draft_is_left_behind(tmp_path: Path) -> None:
    write_lines(tmp_path / "x", ["a", "b"])
    assert [path.name for path in tmp_path.iterdir()] == ["x"]
    assert (tmp_path / "x").read_text(encoding="utf-8") == "a\nb\n"


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"none/x: cannot be written: No such file or directory\. .*hydra.run.dir"):
        write_lines(tmp_path / "none" / "x", ["a"])


def test_a_long_task_name_still_fits_a_file_system_and_stays_its_own() -> None:
    one, other = (samples_name("n" * 300 + end) for end in "ab")
    assert one != other
    assert len(f".{one}.draft") <= 255


def test_half_a_surrogate_pair_is_written_as_its_escape(tmp_path: Path) -> None:
    path = write_samples(tmp_path, "toy", [replace(row(0), doc={"text": "a\ud800"})])
    assert json.loads(path.read_text(encoding="utf-8"))["doc"] == {"text": "a\ud800"}
