"""What the exceptions of a task's hooks and templates tell about the columns they want."""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from types import CodeType
from typing import Any

from jinja2 import nodes

from .probe import Probe, ProbeRow
from .shape import LENGTH, Shape

NAME = re.compile(r"[A-Za-z_]\w*")
LETTERS = ("A", "B", "C", "D")


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


def _source(code: CodeType, instruction: int) -> str:
    """The text of the expression that an instruction belongs to."""
    line, end_line, start, end = list(code.co_positions())[instruction // 2]
    assert line is not None and end_line is not None
    lines = [linecache.getline(code.co_filename, number).encode() for number in range(line, end_line + 1)]
    lines[-1] = lines[-1][:end]
    return b"".join([lines[0][start:], *lines[1:]]).decode()


def _learn_letter(error: Exception) -> bool:
    probe = _failing(error, lambda node: node.args[0] if isinstance(node, ast.Call) and node.args else None)
    return isinstance(probe, Probe) and _learn_options(probe.shape, LETTERS)


def _failing(error: Exception, part: Callable[[Any], ast.expr | None]) -> Any:
    """The value of one part of the expression that raised."""
    trace = _innermost(error)
    code = trace.tb_frame.f_code
    with suppress(Exception):
        node = part(ast.parse(f"({_source(code, trace.tb_lasti)})", mode="eval").body)
        if node is not None:
            return eval(ast.unparse(node), trace.tb_frame.f_globals, dict(trace.tb_frame.f_locals))
    return None


def learn_from_template(template: str, row: Any, message: str) -> None:
    """A column that looks up a mapping written in the template must be one of its keys."""
    from lm_eval.utils import env

    keys = [pair.key.value for pair in env.parse(template).find_all(nodes.Pair) if isinstance(pair.key, nodes.Const)]
    for value in row.values():
        if isinstance(value, Probe) and f"'{value}'" in message:
            _learn_options(value.shape, keys)
