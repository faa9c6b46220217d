"""What a task file uses, as a set of names; and the fewest files that use most of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .catalogue import SPLIT_KEYS, TaskFile

FORMS = (
    "doc_to_text",
    "doc_to_target",
    "doc_to_choice",
    "description",
    "gen_prefix",
    "process_docs",
    "process_results",
)
PRESENT = ("custom_dataset", "doc_to_image", "doc_to_audio", "unsafe_code", "class", "num_fewshot")
VALUES = ("output_type", "target_delimiter", "fewshot_delimiter", "repeats")
JINJA = re.compile(r"\b(?:if|for|set|is defined|is none|not|and|or|range)\b|\|\s*\w+|\.\w+\(|\[|[-+*/<>=]+")


def cover(tasks: Sequence[TaskFile], count: int) -> list[TaskFile]:
    """Greedily: the task that adds most, until nothing is added or `count` are taken. Names break ties."""
    wanted = {task.name: features(task.config) for task in tasks}
    taken: list[TaskFile] = []
    seen: set[str] = set()
    while len(taken) < count:
        best = max(tasks, key=lambda task: len(wanted[task.name] - seen), default=None)
        if best is None or (taken and not wanted[best.name] - seen):
            break
        taken.append(best)
        seen |= wanted[best.name]
    return taken


def features(config: Mapping[str, Any]) -> set[str]:
    return set(_features(config))


def _features(config: Mapping[str, Any]) -> Iterator[str]:
    for key in FORMS:
        yield f"{key}: {form(config.get(key))}"
        if isinstance(value := config.get(key), str) and "{{" in value:
            yield from (f"template: {found}" for found in JINJA.findall(value))
    yield from (f"{key}: yes" for key in PRESENT if config.get(key))
    yield from (f"{key}: {config[key]!r}" for key in VALUES if key in config)
    yield "splits: " + "".join(key[0] for key in SPLIT_KEYS if config.get(key))
    for key, value in (config.get("fewshot_config") or {}).items():
        yield f"fewshot {key}: {value if key == 'sampler' else form(value)}"
    yield from _scoring(config)


def _scoring(config: Mapping[str, Any]) -> Iterator[str]:
    for key in config.get("generation_kwargs") or {}:
        yield f"generation: {key}"
    for pipeline in config.get("filter_list") or []:
        yield "filters: " + " > ".join(_name(step["function"]) for step in pipeline["filter"])
    for metric in config.get("metric_list") or []:
        yield f"metric: {_name(metric['metric'])} {_name(metric.get('aggregation'))}"
        yield from (f"metric option: {key}" for key in metric)


def _name(value: Any) -> str:
    """A registered name, or the last part of a function's."""
    return str(value).rpartition("/")[2]


def form(value: Any) -> str:
    """column, template, function, … : how a field is written."""
    if not isinstance(value, str):
        return type(value).__name__
    if value.startswith("/"):
        return f"function {_name(value)}"
    if "{{" in value or "{%" in value:
        return "template"
    return "word" if re.fullmatch(r"\w+", value) else "text" if value else "empty"
