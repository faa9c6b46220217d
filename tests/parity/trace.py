"""Run a task's own templates and hooks on probes, and learn from what fails."""

from __future__ import annotations

import ast
import json
import linecache
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from typing import Any
from unittest.mock import patch

from jinja2 import TemplateSyntaxError, UndefinedError, meta, nodes

from .patterns import example
from .probe import LENGTH, Probe, ProbeRow, Shape

RUNS, ROWS = 6, 4
NAME = re.compile(r"[A-Za-z_]\w*")
ONE_EXPRESSION = re.compile(r"\s*\{\{((?:(?!\}\}).)*)\}\}\s*", re.DOTALL)
LETTERS = ("A", "B", "C", "D")


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
        _learn_keys_of_template(field, row, str(error))
        raise


def _learn_keys_of_template(template: str, row: Any, message: str) -> None:
    """A column that looks up a mapping written in the template must be one of its keys."""
    from lm_eval.utils import env

    keys = [pair.key.value for pair in env.parse(template).find_all(nodes.Pair) if isinstance(pair.key, nodes.Const)]
    for value in row.values():
        if isinstance(value, Probe) and f"'{value}'" in message:
            _learn_options(value.shape, keys)


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


def learn(error: Exception, root: Shape) -> bool:
    """Note what an exception tells about the columns; False where it tells nothing."""
    if isinstance(error, KeyError) and error.args:
        missing = error.args[0]
        if isinstance(missing, Probe):
            return _learn_keys(missing, error)
        if isinstance(missing, str) and NAME.match(missing) and missing not in root.keys:
            root.key(missing)
            return True
    undefined = re.match(r"'(\w+)' is undefined", str(error))
    if undefined and undefined[1] not in root.keys:
        root.key(undefined[1])
        return True
    if "ord() expected" in str(error):
        return _learn_letter(error)
    return isinstance(error, IndexError) and _learn_more_columns(root)


def _learn_more_columns(root: Shape) -> bool:
    """A hook that walks over the columns, whatever their names, wants more of them."""
    if "walked" not in root.kinds or "extra1" in root.keys:
        return False
    for number in range(1, LENGTH + 1):
        root.key(f"extra{number}")
    return True


def _learn_keys(probe: Probe, error: Exception) -> bool:
    """The keys of the mapping in which a value was looked up in vain."""
    container = _failing(error, lambda node: node.value if isinstance(node, ast.Subscript) else None)
    keys = list(container) if isinstance(container, Mapping) else _keys_in_sight(error)
    return _learn_options(probe.shape, keys)


def _learn_options(shape: Shape, options: Iterable[Any]) -> bool:
    before = len(shape.literals)
    for option in options:
        shape.compared(option)
    shape.is_key = bool(shape.literals)
    return len(shape.literals) > before


def _keys_in_sight(error: Exception) -> list[Any]:
    """The keys of the first mapping that the failing function names."""
    frame = _innermost(error).tb_frame
    names = (*frame.f_code.co_varnames, *frame.f_code.co_freevars, *frame.f_code.co_names)
    values = (frame.f_locals.get(name, frame.f_globals.get(name)) for name in names)
    found = (value for value in values if isinstance(value, dict) and value and not isinstance(value, ProbeRow))
    return list(next(found, {}))


def _innermost(error: Exception) -> Any:
    trace = error.__traceback__
    assert trace is not None
    while trace.tb_next is not None:
        trace = trace.tb_next
    return trace


def _learn_letter(error: Exception) -> bool:
    probe = _failing(error, lambda node: node.args[0] if isinstance(node, ast.Call) and node.args else None)
    return isinstance(probe, Probe) and _learn_options(probe.shape, LETTERS)


def _failing(error: Exception, part: Callable[[Any], ast.expr | None]) -> Any:
    """The value of one part of the expression that raised."""
    trace = _innermost(error)
    code = trace.tb_frame.f_code
    line, end_line, start, end = list(code.co_positions())[trace.tb_lasti // 2]
    if line is None or line != end_line:
        return None
    source = linecache.getline(code.co_filename, line).encode()[start:end].decode()
    with suppress(Exception):
        node = part(ast.parse(source.strip(), mode="eval").body)
        if node is not None:
            return eval(ast.unparse(node), trace.tb_frame.f_globals, dict(trace.tb_frame.f_locals))
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
        patch.object(datasets.Dataset, "from_dict", lambda columns, *args, **kwargs: FakeDataset(_rows(columns))),
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


def _rows(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


class FakeDataset:
    """As much of `datasets.Dataset` as hooks use, on rows of probes."""

    def __init__(self, rows: Iterable[Any]) -> None:
        self.rows = list(rows)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return [row[key] for row in self.rows]
        return FakeDataset(self.rows[key]) if isinstance(key, slice) else self.rows[key]

    @property
    def column_names(self) -> list[str]:
        return list(dict.fromkeys(key for row in self.rows for key in row))

    @property
    def features(self) -> dict[str, None]:
        return dict.fromkeys(self.column_names)

    num_rows = property(__len__)

    def map(self, function: Any, *, batched: bool = False, with_indices: bool = False, **options: Any) -> FakeDataset:
        kwargs = options.get("fn_kwargs") or {}
        if batched:
            return FakeDataset(_rows(function({name: self[name] for name in self.column_names}, **kwargs)))
        made = []
        for number, row in enumerate(self.rows):
            new = row.copy()
            new.update(function(row, *([number] if with_indices else []), **kwargs) or {})
            made.append(new)
        return FakeDataset(made)

    def filter(self, function: Any, **options: Any) -> FakeDataset:
        kept = [row for row in self.rows if function(row, **(options.get("fn_kwargs") or {}))]
        return FakeDataset(kept or self.rows)

    def select(self, indices: Any, **options: Any) -> FakeDataset:
        return FakeDataset([self.rows[int(index) % len(self.rows)] for index in indices])

    def rename_column(self, old: str, new: str) -> FakeDataset:
        return self.map(lambda row: {new: row[old]})

    def rename_columns(self, names: Mapping[str, str]) -> FakeDataset:
        return self.map(lambda row: {new: row[old] for old, new in names.items()})

    def _itself(self, *args: Any, **kwargs: Any) -> FakeDataset:
        return self

    shuffle = sort = remove_columns = select_columns = flatten = cast_column = with_format = _itself

    def to_list(self) -> list[Any]:
        return self.rows
