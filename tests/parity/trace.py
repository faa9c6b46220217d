"""Run a task's own templates and hooks on probes, and learn from what fails."""

from __future__ import annotations

import ast
import json
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from typing import Any
from unittest.mock import patch

from jinja2 import TemplateSyntaxError, UndefinedError, meta

from .fake_dataset import FakeDataset, rows_of
from .learn import NAME, learn, learn_from_template
from .patterns import example
from .probe import Probe, ProbeRow
from .shape import LENGTH, Shape

RUNS, ROWS = 6, 4
ONE_EXPRESSION = re.compile(r"\s*\{\{((?:(?!\}\}).)*)\}\}\s*", re.DOTALL)


def traced(config: Mapping[str, Any], known: Shape | None = None) -> Shape:
    """The columns that a task with this configuration uses. `config` is lm-eval's, functions resolved.

    `known`: what has been learned before, to start from.
    """
    root = known or Shape("")
    with _parsers_that_note():
        for run in range(RUNS):
            random.seed(run)
            _run(config, root, run)
    return root


def _run(config: Mapping[str, Any], root: Shape, run: int) -> None:
    rows: Any = FakeDataset([ProbeRow(root, (run, number)) for number in range(ROWS)])
    if callable(process := config.get("process_docs")):
        rows = _tried(root, process, rows) or rows
    for row in list(rows)[:ROWS]:
        _document(config, root, row)
    for row in [ProbeRow(root, (run, number)) for number in range(2)]:
        for value in _shot_fields(config):
            _tried(root, _value, value, row)


def _document(config: Mapping[str, Any], root: Shape, row: Any) -> None:
    text, target, choices = (_tried(root, _object, config.get(f"doc_to_{field}"), row) for field in _FIELDS)
    _tried(root, _value, config.get("doc_to_text"), row)
    for key in ("description", "gen_prefix"):
        _tried(root, _value, config.get(key), row)
    if isinstance(choices, Probe):
        choices.shape.listed()
    elif isinstance(choices, str):
        with suppress(ValueError, SyntaxError):
            choices = ast.literal_eval(choices)
    if config.get("doc_to_choice") is not None:
        _relate(target, choices)
        if isinstance(target, str) and not isinstance(target, Probe):
            _relate(text, choices)
    if callable(process := config.get("process_results")):
        count = len(choices) if isinstance(choices, list) else LENGTH
        _tried(root, process, row, _made_up_results(config.get("output_type"), count))


_FIELDS = ("text", "target", "choice")


def _relate(target: Any, choices: Any) -> None:
    """A target beside choices is the index of one, where nothing says that it is a text."""
    if not isinstance(target, Probe) or target.shape.kinds & {"text", "list"} or target.shape.literals:
        return
    target.shape.kinds.add("int")
    if isinstance(choices, Probe):
        target.shape.index_of = choices.shape
    elif isinstance(choices, Sequence):
        target.shape.limit = len(choices)


def _made_up_results(output_type: Any, choices: int) -> list[Any]:
    if output_type in ("multiple_choice", "loglikelihood"):
        return [(-1.0 - number, number == 0) for number in range(choices if output_type == "multiple_choice" else 1)]
    return [-10.0] if output_type == "loglikelihood_rolling" else ["The answer is A"]


def _value(field: Any, row: Any) -> Any:
    """As lm-eval reads a field, but a bare word is always a column."""
    from lm_eval.utils import apply_template

    if callable(field):
        return field(row)
    if not isinstance(field, str):
        return field
    if NAME.fullmatch(field):
        return row[field]
    try:
        return apply_template(field, _with_names(field, row))
    except UndefinedError as error:
        learn_from_template(field, row, str(error))
        raise


def _object(field: Any, row: Any) -> Any:
    """A template that is one expression gives that expression's value, everything else what lm-eval reads."""
    from lm_eval.utils import env

    if isinstance(field, str) and (only := ONE_EXPRESSION.fullmatch(field)):
        return env.compile_expression(only[1], undefined_to_none=False)(**_with_names(field, row))
    return _value(field, row)


def _shot_fields(config: Mapping[str, Any]) -> list[Any]:
    shots = config.get("fewshot_config") or {}
    return [shots.get(f"doc_to_{field}") for field in _FIELDS] + [shots.get("gen_prefix")]


def _with_names(template: str, row: Any) -> dict[str, Any]:
    """The row with every column that a template names."""
    return dict(row) | {name: row[name] for name in _names_in(template)}


def _names_in(template: str) -> set[str]:
    from lm_eval.utils import env

    with suppress(TemplateSyntaxError):
        return meta.find_undeclared_variables(env.parse(template)) - set(env.globals)
    return set()


def _tried(root: Shape, function: Callable[..., Any], *args: Any) -> Any:
    try:
        return function(*args)
    except Exception as error:  # noqa: BLE001 - a hook meets values it does not expect; the next run knows better
        learn(error, root)
        return None


@contextmanager
def _parsers_that_note() -> Iterator[None]:
    """`json.loads`, `re.search` and their like tell a probe what it must hold; on all else they work as ever."""
    import datasets

    with (
        patch.object(json, "loads", _parsing(json.loads, "json")),
        patch.object(ast, "literal_eval", _parsing(ast.literal_eval, "python")),
        patch.object(re, "search", _searching(re.search)),
        patch.object(re, "match", _searching(re.match)),
        patch.object(re, "fullmatch", _searching(re.fullmatch)),
        patch.object(re, "findall", _searching(re.findall)),
        patch.object(re, "finditer", _searching(re.finditer)),
        patch.object(re, "sub", _replacing(re.sub)),
        patch.object(re, "split", _splitting(re.split)),
        patch.object(datasets.Dataset, "from_list", lambda rows, *args, **kwargs: FakeDataset(rows)),
        patch.object(datasets.Dataset, "from_dict", lambda columns, *args, **kwargs: FakeDataset(rows_of(columns))),
        patch.object(datasets, "concatenate_datasets", lambda parts, **kwargs: FakeDataset(chain(*parts))),
    ):
        yield


def _parsing(original: Callable[..., Any], notation: str) -> Callable[..., Any]:
    def parse(text: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(text, Probe):
            return text.of(text.shape.holds(notation))
        return original(text, *args, **kwargs)

    return parse


def _searching(original: Callable[..., Any]) -> Callable[..., Any]:
    def search(pattern: Any, text: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(text, Probe):
            return original(pattern, text, *args, **kwargs)
        source = getattr(pattern, "pattern", pattern)
        if source not in text.shape.patterns:
            text.shape.patterns.append(source)
        return original(pattern, example(source), *args, **kwargs)

    return search


def _replacing(original: Callable[..., Any]) -> Callable[..., Any]:
    def replace(pattern: Any, new: Any, text: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(pattern, new, text, *args, **kwargs)
        return text.of(text.shape, result) if isinstance(text, Probe) else result

    return replace


def _splitting(original: Callable[..., Any]) -> Callable[..., Any]:
    def split(pattern: Any, text: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(text, Probe):
            return text.split(example(getattr(pattern, "pattern", pattern)))
        return original(pattern, text, *args, **kwargs)

    return split
