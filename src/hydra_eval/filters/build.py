"""From a task's `filter_list`, or from `filters` of the command line, to pipelines."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hydra_eval.errors import UserError, did_you_mean, known_names, lookup
from hydra_eval.filters import FILTERS
from hydra_eval.filters.base import Filter, Pipeline
from hydra_eval.filters.custom import from_apply
from hydra_eval.lm_eval_compat import registered

REFUSED = {"decontaminate": "is not supported: in lm-eval it is a stub that does nothing. Leave the step out"}
"""Filter that lm-eval's code knows → why it is refused."""
DEFAULT_SPEC: Mapping[str, Sequence[str]] = {"none": ["take_first"]}


def build_pipelines(spec: Any, *, where: str) -> tuple[Pipeline, ...]:
    """The pipelines of one task, in order.

    `spec` is lm-eval's list of `{name, filter: [step]}`, or a mapping `{name: [step]}`; nothing means `none`, which
    takes the first reply. A step is `{function, **options}`, or just the function where it needs no options; the
    function is a key of `FILTERS`, or a class with `apply(resps, docs)`. `where` heads the messages.
    """
    entries = _entries(spec or DEFAULT_SPEC, where)
    names = [name for name, _ in entries]
    for name in names:
        if names.count(name) > 1:
            raise UserError(f"{where}: two filter pipelines are called '{name}'; each needs a name of its own.")
    return tuple(_pipeline(name, steps, where=where) for name, steps in entries)


def _entries(spec: Any, where: str) -> list[tuple[str, Any]]:
    if isinstance(spec, Mapping):
        return [(str(name), steps) for name, steps in spec.items()]
    if not isinstance(spec, list | tuple):
        raise UserError(
            f"{where}: filters must be a list of {{name, filter}} or a mapping from names to steps, not {spec!r}."
        )
    for entry in spec:
        if not isinstance(entry, Mapping) or set(entry) != {"name", "filter"}:
            raise UserError(f"{where}: an entry of filter_list must have exactly the keys name and filter: {entry!r}.")
    return [(str(entry["name"]), entry["filter"]) for entry in spec]


def _pipeline(name: str, steps: Any, *, where: str) -> Pipeline:
    here = f"{where}: filter pipeline '{name}'"
    if not isinstance(steps, list | tuple):
        raise UserError(f"{here}: its steps must be a list such as [take_first], not {steps!r}.")
    functions = tuple(_step(step, here) for step in steps)
    names = tuple(map(_step_name, steps))
    return Pipeline(name, functions, names, is_ours=all(map(_is_ours, steps)))


def _step_name(step: Any) -> str:
    function = step["function"] if isinstance(step, Mapping) else step
    return function if isinstance(function, str) else getattr(function, "__name__", repr(function))


def _is_ours(step: Any) -> bool:
    function = step["function"] if isinstance(step, Mapping) else step
    return isinstance(function, str) and function in FILTERS and function != "custom"


def _step(step: Any, here: str) -> Filter:
    options = dict(step) if isinstance(step, Mapping) else {"function": step}
    if "function" not in options:
        raise UserError(f"{here}: a step lacks the key function: {step!r}.")
    function = options.pop("function")
    if callable(function):
        return _own_filter(function, options, here)
    if not isinstance(function, str):
        raise UserError(f"{here}: function must be a filter's name or !function, not {function!r}.")
    if function in REFUSED:
        raise UserError(f"{here}: the filter '{function}' {REFUSED[function]}.")
    if function not in FILTERS and (registered_class := registered("filter", function)) is not None:
        return _own_filter(registered_class, options, here)
    factory = lookup(FILTERS, function, kind="filter", where=here)
    made: Filter = _make(factory, options, f"{here}: filter '{function}'")
    return made


def _own_filter(function: Callable[..., Any], options: Mapping[str, Any], here: str) -> Filter:
    name = getattr(function, "__name__", repr(function))
    if inspect.isroutine(function):
        raise UserError(
            f"{here}: '{name}' must be a class with a method apply(resps, docs). "
            "A plain function goes in as {function: custom, filter_fn: !function file.name}."
        )
    made = _make(function, options, f"{here}: filter '{name}'")
    if not callable(getattr(made, "apply", None)):
        raise UserError(f"{here}: class '{name}' has no method apply(resps, docs).")
    return from_apply(made.apply)


def _make(factory: Callable[..., Any], options: Mapping[str, Any], here: str) -> Any:
    _check_options(factory, options, here)
    try:
        return factory(**options)
    except re.error as error:
        raise UserError(f"{here}: {error.pattern!r} is not a regular expression: {error}.") from error
    except UserError as error:
        raise UserError(f"{here}: {error}.") from error


def _check_options(factory: Callable[..., Any], options: Mapping[str, Any], here: str) -> None:
    parameters = [p for p in inspect.signature(factory).parameters.values() if p.kind is not p.VAR_POSITIONAL]
    known = {p.name for p in parameters if p.kind is not p.VAR_KEYWORD}
    takes = f"It takes: {known_names(known)}." if known else "It takes no options."
    if len(known) == len(parameters):
        for option in options:
            if option not in known:
                raise UserError(f"{here} has no option '{option}'.{did_you_mean(str(option), known)} {takes}")
    for p in parameters:
        if p.name in known and p.default is p.empty and p.name not in options:
            raise UserError(f"{here} needs the option '{p.name}'. {takes}")
