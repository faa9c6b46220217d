"""Fields of a task file become functions of a row: column, Jinja template, literal or hook, in lm-eval's order.

Semantics: lm-eval 0.4.13, `ConfigurableTask.doc_to_text`, `doc_to_target`, `doc_to_choice`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from typing import Any, TypeVar

from jinja2 import BaseLoader, Environment, StrictUndefined, Template, TemplateError, nodes

from hydra_eval.errors import UserError, did_you_mean
from hydra_eval.tasks.task import Row

T = TypeVar("T")


def _regex_replace(text: str, pattern: str, replacement: str, count: int = 0) -> str:
    return re.sub(pattern, replacement, text, count=count)


_ENVIRONMENT = Environment(loader=BaseLoader(), undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False)
_ENVIRONMENT.filters["regex_replace"] = _regex_replace


@lru_cache(maxsize=4096)
def _compiled(template: str) -> Template:
    if any(used.name == "self" for used in _ENVIRONMENT.parse(template).find_all(nodes.Name)):
        raise TemplateError("'self' is a word of Jinja's own, not a column; rename that column in process_docs")
    return _ENVIRONMENT.from_string(template)


def render(template: str, row: Row, *, where: str) -> str:
    """The template's text for one row. Raises UserError for a column that is not there, or a template that is wrong."""
    try:
        return _compiled(template).render(row)  # not as **row: a column may be called `self`
    except Exception as error:  # an expression in a template may raise anything: x.index(y), x / y, x + y
        reason = str(error) if isinstance(error, TemplateError) else f"{type(error).__name__}: {error}"
        missing = re.match(r"'(\w+)' is undefined", reason)
        near = did_you_mean(missing.group(1), row) if missing else ""
        raise UserError(
            f"{where}: {reason.rstrip('.')}.{near} Columns: {', '.join(sorted(row))}. Template: {template!r}"
        ) from error


def text_field(value: Any, *, columns: Collection[str], has_choices: bool, where: str) -> Callable[[Row], Any]:
    """`doc_to_text`: text, or an int (literal, or digits where the task has choices)."""
    if not isinstance(value, str):
        return _literal_or_hook(value, (int,), where=where)
    if value in columns:
        return lambda row: _cell(row, value, where=where)

    def field(row: Row) -> Any:
        text = render(value, row, where=where)
        return int(text) if has_choices and text.isdigit() else text

    return field


def target_field(value: Any, *, columns: Collection[str], has_choices: bool, where: str) -> Callable[[Row], Any]:
    """`doc_to_target`: like `text_field`, and text that reads as a list literal becomes a list."""
    if not isinstance(value, str):
        return _literal_or_hook(value, (int, list), where=where)
    if value in columns:
        return lambda row: _cell(row, value, where=where)

    def field(row: Row) -> Any:
        text = render(value, row, where=where)
        if has_choices and text.isdigit():
            return int(text)
        return _as_list_literal(text) if len(text) >= 2 and text[0] == "[" and text[-1] == "]" else text

    return field


def choice_field(value: Any, *, columns: Collection[str], where: str) -> Callable[[Row], list[str]] | None:
    """`doc_to_choice`: a column, a literal list, a mapping's values, a hook, or a template that gives a list."""
    if value is None:
        return None
    if isinstance(value, Mapping):
        values = list(value.values())
        return lambda row: values
    if not isinstance(value, str):
        return _literal_or_hook(value, (list,), where=where)
    if value in columns:
        return lambda row: _cell(row, value, where=where)

    def field(row: Row) -> list[str]:
        text = render(value, row, where=where)
        choices = _as_list_literal(text)
        if not isinstance(choices, list):
            raise UserError(f"{where}: the template must give a list such as ['A', 'B'], but gave {text!r}.")
        return choices

    return field


def once_per_row(field: Callable[[Row], T]) -> Callable[[Row], T]:
    """The same field, worked out once for each row object: a hook may be slow, and an example stands in many prompts.

    The rows are kept beside what was made of them, so that no other row can come to lie in their place.
    """
    known: dict[int, tuple[Row, T]] = {}

    def remembered(row: Row) -> T:
        if id(row) not in known:
            known[id(row)] = (row, field(row))
        return known[id(row)][1]

    return remembered


def key_field(value: Any, *, where: str) -> Callable[[Row], str | None]:
    """`description` and `gen_prefix`: a key of the row, else a template; None for an empty value."""
    if not value:
        return lambda row: None
    if callable(value):
        return value  # type: ignore[no-any-return]
    if not isinstance(value, str):
        raise UserError(f"{where}: needs text, a template or a !function, but is {value!r}.")
    return lambda row: row[value] if value in row else render(value, row, where=where)


def _cell(row: Row, column: str, *, where: str) -> Any:
    """A column of the first document need not be in every row: a hook or `samples` may leave it out."""
    if column not in row:
        raise UserError(f"{where}: this row has no column '{column}'. Columns: {', '.join(sorted(row))}.")
    return row[column]


def _literal_or_hook(value: Any, literals: tuple[type, ...], *, where: str) -> Callable[[Row], Any]:
    if callable(value):
        return value  # type: ignore[no-any-return]
    if isinstance(value, literals) and not isinstance(value, bool):
        return lambda row: value
    raise UserError(f"{where}: needs a column, a template or a !function, but is {value!r}.")


def _as_list_literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text
