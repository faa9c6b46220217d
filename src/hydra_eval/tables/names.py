"""Which tasks a file's TASKS_TABLE has, told from its text: listing imports no task code."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from hydra_eval.errors import UserError

TABLE = "TASKS_TABLE"
ADDING = ("append", "extend")


def static_names(path: Path | str) -> list[str] | None:
    """Names in the table as far as they are written out; None where the file has no TASKS_TABLE.

    A name that is computed (an f-string in a loop) is missing: `load.table_entries` has them all. Raises UserError for
    a file with a table that is not Python.
    """
    source = Path(path).read_text(encoding="utf-8", errors="replace")
    if TABLE not in source:
        return None
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError) as error:
        raise UserError(f"{path}: cannot be read as Python: {error}.") from error
    values = _assigned(module)
    if TABLE not in values:
        return None
    return list(dict.fromkeys(name for value in values[TABLE] for name in _names(value, values, seen=(TABLE,))))


def _assigned(module: ast.Module) -> dict[str, list[ast.expr]]:
    """Variable → every expression that is put into it or added to it at the top of the file."""
    found: dict[str, list[ast.expr]] = {}
    for node in module.body:
        for name, value in _assignments(node):
            found.setdefault(name, []).append(value)
    return found


def _assignments(node: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(node, ast.Assign):
        yield from ((target.id, node.value) for target in node.targets if isinstance(target, ast.Name))
    elif isinstance(node, ast.AnnAssign | ast.AugAssign) and isinstance(node.target, ast.Name) and node.value:
        yield node.target.id, node.value
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        call = node.value
        target = call.func.value if isinstance(call.func, ast.Attribute) and call.func.attr in ADDING else None
        if isinstance(target, ast.Name) and call.args:
            yield target.id, call.args[0]


def _names(value: ast.expr, values: Mapping[str, list[ast.expr]], seen: tuple[str, ...]) -> Iterator[str]:
    if isinstance(value, ast.List | ast.Tuple):
        parts = value.elts
    elif isinstance(value, ast.Starred):
        parts = [value.value]
    elif isinstance(value, ast.BinOp):
        parts = [value.left, value.right]
    elif isinstance(value, ast.Name) and value.id not in seen:
        parts, seen = values.get(value.id, []), (*seen, value.id)
    else:
        yield from _own_name(value)
        return
    for part in parts:
        yield from _names(part, values, seen)


def _own_name(value: ast.expr) -> Iterator[str]:
    """The `name` that a call gives its task."""
    if not isinstance(value, ast.Call):
        return
    given = [keyword.value for keyword in value.keywords if keyword.arg == "name"] or value.args[:1]
    for name in given:
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            yield name.value
