"""Rows that fit: what a task's templates and hooks do with a column decides its type."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from .catalogue import TaskFile
from .features import cover, features, form
from .patterns import example
from .probe import Probe, ProbeRow
from .shape import Shape
from .synthetic import ROWS, make_row, write_data_set

pytestmark = pytest.mark.parity


def traced(config: Mapping[str, Any]) -> Shape:
    pytest.importorskip("lm_eval", reason="needs lm-evaluation-harness (extra: parity)")
    from .trace import traced

    return traced(config)


def row_for(**config: Any) -> dict[str, Any]:
    return make_row(traced({"doc_to_text": "", **config}), "test", 3, rich=True)


def is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


Check = Callable[[dict[str, Any]], bool]
CASES: dict[str, tuple[dict[str, Any], Check]] = {
    "a column": ({"doc_to_text": "{{question}}"}, lambda row: isinstance(row["question"], str)),
    "a bare word": ({"doc_to_text": "question"}, lambda row: isinstance(row["question"], str)),
    "a key within a column": ({"doc_to_text": "{{a['b']}}{{a.c}}"}, lambda row: set(row["a"]) == {"b", "c"}),
    "a loop": ({"doc_to_text": "{% for c in cs %}{{c}}{% endfor %}"}, lambda row: is_texts(row["cs"])),
    "a far index": ({"doc_to_text": "{{cs[4]}}{{cs|length}}"}, lambda row: len(row["cs"]) == 5),
    "choices": ({"doc_to_choice": "{{options}}"}, lambda row: is_texts(row["options"])),
    "an index into choices": (
        {"doc_to_choice": "options", "doc_to_target": "label"},
        lambda row: row["label"] in range(len(row["options"])),
    ),
    "an index into literal choices": (
        {"doc_to_choice": ["no", "yes", "maybe"], "doc_to_target": "label"},
        lambda row: row["label"] in range(3),
    ),
    "a choice's place": (
        {"doc_to_choice": "{{c.text}}", "doc_to_target": "{{c.label.index(key)}}"},
        lambda row: row["key"] in row["c"]["label"],
    ),
    "compared with words": (
        {"doc_to_text": "{% if kind == 'cause' %}a{% elif kind == 'effect' %}b{% endif %}"},
        lambda row: row["kind"] in ("cause", "effect"),
    ),
    "a number": ({"doc_to_target": "{{['A', 'B'][answer - 1]}}"}, lambda row: isinstance(row["answer"], int)),
    "a hook": (
        {"doc_to_text": lambda doc: doc["title"].upper() + ", ".join(doc["tags"])},
        lambda row: isinstance(row["title"], str) and is_texts(row["tags"]),
    ),
    "a look-up in a hook": (
        {"doc_to_target": lambda doc: {"one": 1, "two": 2}[doc["word"]]},
        lambda row: row["word"] in ("one", "two"),
    ),
    "a letter in a hook": ({"doc_to_target": lambda doc: ord(doc["key"]) - ord("A")}, lambda row: row["key"] in "ABCD"),
    "JSON in a hook": (
        {"doc_to_text": lambda doc: json.loads(doc["facts"])["name"].strip()},
        lambda row: isinstance(json.loads(row["facts"])["name"], str),
    ),
    "a pattern in a hook": (
        {"doc_to_target": lambda doc: re.search(r"#### (\d+)", doc["answer"])[1]},
        lambda row: re.search(r"#### \d+", row["answer"]) is not None,
    ),
    "a split text in a hook": (
        {"doc_to_text": lambda doc: doc["line"].split("|")[1]},
        lambda row: len(row["line"].split("|")) > 1,
    ),
    "a hook over all rows": (
        {"process_docs": lambda rows: rows.map(lambda row: {"new": row["old"].strip()}), "doc_to_text": "{{new}}"},
        lambda row: isinstance(row["old"], str) and "new" not in row,
    ),
    "a filter over all rows": (
        {"process_docs": lambda rows: rows.filter(lambda row: row["kind"] == "good"), "doc_to_text": "{{kind}}"},
        lambda row: row["kind"] == "good",
    ),
    "a score": (
        {"doc_to_text": "{{q}}", "process_results": lambda doc, results: {"em": results[0] in doc["answers"][0]}},
        lambda row: isinstance(row["answers"], list),
    ),
}


@pytest.mark.parametrize(("config", "fits"), CASES.values(), ids=CASES)
def test_row_fits(config: dict[str, Any], fits: Check) -> None:
    assert fits(row_for(**config))


def test_rows_differ_by_split_and_number_and_by_nothing_else() -> None:
    shape = traced({"doc_to_text": "{{question}} {{n + 1}}"})
    rows = {(split, n): make_row(shape, split, n, rich=True) for split in ("train", "test") for n in range(ROWS)}
    assert len({json.dumps(row) for row in rows.values()}) > ROWS
    assert make_row(shape, "test", 3, rich=True) == rows["test", 3]


def test_a_probe_is_text_and_remembers() -> None:
    probe = ProbeRow(root := Shape(""), (0, 0))["column"]
    assert isinstance(probe, str) and isinstance(probe["key"][0], Probe)
    assert root.keys["column"].keys["key"].is_list


@pytest.mark.parametrize(
    "pattern",
    [r"#### (\-?[0-9\.\,]+)", r"(\(A\))|(B)", r"\\boxed\{(.*?)\}", r"^\s*(?:Answer|A)[:.]\s+(\w+)$", r"(x)[^a-z]{2}\1"],
    ids=["number", "either", "box", "anchors", "reference"],
)
def test_example_matches(pattern: str) -> None:
    assert re.search(pattern, example(pattern))


def task_file(name: str, **config: Any) -> TaskFile:
    return TaskFile(name=name, path=None, config={"dataset_path": "org/set", **config})


def test_cover_takes_the_fewest_that_show_all() -> None:
    tasks = [
        task_file("part", repeats=2),
        task_file("other", target_delimiter=""),
        task_file("most", repeats=2, unsafe_code=True),
        task_file("nothing new"),
    ]
    assert [task.name for task in cover(tasks, 4)] == ["most", "other"]
    assert [task.name for task in cover(tasks, 1)] == ["most"]


def test_features_name_forms_filters_and_metrics() -> None:
    config = {
        "doc_to_text": "{{a}} {% if b is defined %}{{b.strip()}}{% endif %}",
        "filter_list": [{"name": "x", "filter": [{"function": "regex"}, {"function": "take_first"}]}],
        "metric_list": [{"metric": "acc", "aggregation": "mean"}],
    }
    wanted = {"doc_to_text: template", "template: .strip(", "filters: regex > take_first", "metric: acc mean"}
    assert wanted <= features(config)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(None, "NoneType"), ("word", "word"), ("some text.", "text"), ("", "empty"), ("{{a}}", "template"), (3, "int")],
    ids=["none", "word", "text", "empty", "template", "number"],
)
def test_form(value: Any, expected: str) -> None:
    assert form(value) == expected


def test_write_data_set_lies_where_the_hub_has_it(tmp_path: Any) -> None:
    files = write_data_set(task_file("toy", dataset_name="sub"), {"test": [{"a": "é\n"}]}, tmp_path)
    assert files == {"test": tmp_path / "org" / "set" / "sub" / "test.jsonl"}
    assert files["test"].read_text(encoding="utf-8") == '{"a": "é\\n"}\n'
