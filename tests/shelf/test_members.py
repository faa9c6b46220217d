"""Every member of a large family against lm-eval's file of the same task: its keys, and its words on one row."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from .compare import SHELF, original
from .rows_choice import CATEGORIES, DATA

utils = pytest.importorskip("lm_eval.utils", reason="needs lm-evaluation-harness (extra: parity)")
yaml_loader = pytest.importorskip("lm_eval.tasks._yaml_loader", reason="needs lm-evaluation-harness (extra: parity)")

pytestmark = pytest.mark.parity

FAMILIES: dict[str, Callable[[str], str]] = {
    "agieval": lambda name: f"agieval/{name.removeprefix('agieval_').replace('_', '-')}.yaml",
    "belebele": lambda name: f"belebele/{name}.yaml",
    "blimp": lambda name: f"blimp/{name.removeprefix('blimp_')}.yaml",
    "mgsm": lambda name: f"mgsm/{name.removeprefix('mgsm_').rpartition('_')[0]}/{name}.yaml",
    "mmlu": lambda name: f"mmlu/default/{name}.yaml",
    "mmlu_pro": lambda name: f"mmlu_pro/{name}.yaml",
    "xcopa": lambda name: f"xcopa/default_{name.removeprefix('xcopa_')}.yaml",
    "xwinograd": lambda name: f"xwinograd/{name}.yaml",
}
"""Folder → where lm-eval keeps the task of a name."""
SIZES = dict(agieval=10, belebele=122, blimp=67, mgsm=33, mmlu=57, mmlu_pro=14, xcopa=11, xwinograd=6)
GROUPS = {
    "agieval": ["agieval/agieval_en.yaml"],
    "belebele": ["belebele/_belebele.yaml"],
    "blimp": ["blimp/_blimp.yaml"],
    "mgsm": [],
    "mmlu": [f"mmlu/default/_mmlu{part}.yaml" for part in ("", "_humanities", "_other", "_social_sciences", "_stem")],
    "mmlu_pro": ["mmlu_pro/_mmlu_pro.yaml"],
    "xcopa": ["xcopa/_xcopa.yaml"],
    "xwinograd": ["xwinograd/_xwinograd.yaml"],
}
WORDS = ("doc_to_text", "doc_to_target", "doc_to_choice")
NOT_COMPARED = (*WORDS, "metric_list", "process_docs", "process_results", "fewshot_config")
NOT_USED = ("should_decontaminate", "doc_to_decontamination_query")


@pytest.mark.parametrize("family", list(FAMILIES))
def test_members_equal_lm_eval(family: str) -> None:
    members = {name: config for name, config in _configs(family).items() if "group" not in config}
    theirs = {name: yaml_loader.load_yaml(original(FAMILIES[family](name))) for name in members}
    assert len(members) == SIZES[family]
    assert {name: _seen(config) for name, config in members.items()} == {
        name: _seen(config) for name, config in theirs.items()
    }


@pytest.mark.parametrize("family", list(FAMILIES))
def test_groups_equal_lm_eval(family: str) -> None:
    configs = _configs(family)
    ours = {config["group"]: config for config in configs.values() if "group" in config}
    found = [yaml_loader.load_yaml(original(path)) for path in GROUPS[family]]
    theirs = {config["group"]: {**config, "task": _members(config["task"], configs)} for config in found}
    assert {name: _sorted(config) for name, config in ours.items()} == {
        name: _sorted(config) for name, config in theirs.items()
    }


def _configs(family: str) -> dict[str, dict[str, Any]]:
    paths = sorted((SHELF / family).glob("*.yaml"))
    return {path.stem: yaml_loader.load_yaml(path) for path in paths}


def _seen(config: Mapping[str, Any]) -> dict[str, Any]:
    plain = {key: value for key, value in config.items() if key not in (*NOT_COMPARED, *NOT_USED) and value is not None}
    return (
        {"target_delimiter": " "}
        | plain
        | {
            "words": [_worded(config.get(key), row) for row in _rows(config) for key in WORDS],
            "metrics": [
                {"aggregation": "mean", "higher_is_better": True, **metric} for metric in config["metric_list"]
            ],
            "sampler": (config.get("fewshot_config") or {}).get("sampler"),
            "kept": _kept(config.get("process_docs")),
        }
    )


def _rows(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The third document, whose right answer is not the first, and the last."""
    splits = DATA[config["dataset_path"]](config.get("dataset_name"))
    rows = splits[config.get("test_split") or config["validation_split"]]
    return [rows[2], rows[-1]]


def _worded(value: Any, row: Mapping[str, Any]) -> Any:
    if callable(value):
        return value(row)
    if not isinstance(value, str):
        return value
    text = str(row[value]) if value in row else utils.apply_template(value, row)
    return literal_eval(text) if text.startswith("[") else text


def _kept(process: Callable[[Any], Any] | None) -> list[Any]:
    """The categories that a filter over rows lets through."""
    import datasets

    return process(datasets.Dataset.from_dict({"category": list(CATEGORIES)})).to_list() if process else []


def _members(listed: list[str], configs: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """A tag stands for the tasks that bear it."""
    return [name for one in listed for name in _bearers(one, configs) or [one]]


def _bearers(tag: str, configs: Mapping[str, Mapping[str, Any]]) -> list[str]:
    return [name for name, config in configs.items() if config.get("tag") == tag]


def _sorted(config: Mapping[str, Any]) -> dict[str, Any]:
    """Members in order of name; whose mean a mean is, is said or is the default."""
    metrics = [{"aggregation": "mean", **metric} for metric in config["aggregate_metric_list"]]
    return {**config, "task": sorted(config["task"]), "aggregate_metric_list": metrics}
