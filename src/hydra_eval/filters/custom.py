"""Filters that people write themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from hydra_eval.errors import UserError, counted
from hydra_eval.filters.base import Filter

Apply: TypeAlias = Callable[[Any, Any], Iterable[Any]]
"""lm-eval's `apply(resps, docs)`: one entry out per entry in, as any iterable."""


def custom(*, filter_fn: Apply) -> Filter:
    """`filter_fn(resps, docs)`, given with `!function`."""
    if not callable(filter_fn):
        raise UserError(f"filter_fn={filter_fn!r} must be a function: write filter_fn: !function file.name")
    return from_apply(filter_fn)


def from_apply(apply: Apply) -> Filter:
    """A filter from lm-eval's `apply`; one that loses or adds entries is an error."""

    def step(resps: Sequence[Any], docs: Sequence[Mapping[str, Any]]) -> list[Any]:
        given = apply(list(resps), list(docs))
        name = getattr(apply, "__qualname__", repr(apply))
        if not isinstance(given, Iterable):
            raise UserError(f"filter function '{name}' returned {given!r}; it must return one entry for each request.")
        outputs = list(given)
        if len(outputs) != len(resps):
            raise UserError(
                f"filter function '{name}' returned {counted(len(outputs), 'entry', 'entries')} "
                f"for {counted(len(resps), 'request')}; it must return one for each, in the same order."
            )
        return outputs

    return step
