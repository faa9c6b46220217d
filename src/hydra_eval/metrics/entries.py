"""A task's `metric_list`, or `metrics` of the command line, read into one shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from hydra_eval.errors import UserError
from hydra_eval.metrics import DEFAULT_METRICS


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One metric as asked for, its own keys apart from its options."""

    name: str
    function: Callable[..., Any] | None
    aggregation: Any
    higher_is_better: bool | None
    from_evaluate: bool
    options: Mapping[str, Any]
    output_type: str
    where: str
    typed: tuple[str, ...] = ()
    """Options that were given as `task=NAME@option=value`; they become part of the metric's key."""

    @property
    def here(self) -> str:
        """Head of messages."""
        return f"{self.where}: metric '{self.name}'"


def read_entries(spec: Any, *, output_type: str, where: str) -> list[Entry]:
    """`spec` is lm-eval's list of mappings with the key metric, or a mapping from names to options; empty: defaults."""
    if spec is None or spec == {}:
        spec = dict.fromkeys(DEFAULT_METRICS[output_type])
    if isinstance(spec, Mapping):
        spec = [_with_name(name, options, where) for name, options in spec.items()]
    if not isinstance(spec, list | tuple):
        raise UserError(f"{where}: metrics must be a list of {{metric, …}} or a mapping from names, not {spec!r}.")
    return [_entry(item, output_type, where) for item in spec]


def function_name(function: Any) -> str:
    """The name of a function, of the one within a `functools.partial`, or of a callable object's class."""
    inner = function.func if isinstance(function, partial) else function
    return str(getattr(inner, "__name__", type(inner).__name__))


def _with_name(name: str, options: Any, where: str) -> dict[str, Any]:
    """An entry may name its metric itself, so that one metric can stand there twice, or under a plainer name."""
    if options is not None and not isinstance(options, Mapping):
        raise UserError(f"{where}: options of metric '{name}' must be a mapping such as {{}}, not {options!r}.")
    return {"metric": name, **(options or {})}


def _entry(item: Any, output_type: str, where: str) -> Entry:
    if not isinstance(item, Mapping) or "metric" not in item:
        raise UserError(f"{where}: an entry of metric_list must be a mapping with the key metric, not {item!r}.")
    options = {str(key): value for key, value in item.items()}
    metric = options.pop("metric")
    if not callable(metric) and not isinstance(metric, str):
        raise UserError(f"{where}: metric must be a name or !function, not {metric!r}.")
    name = function_name(metric) if callable(metric) else metric
    higher = options.pop("higher_is_better", None)
    if higher is not None and not isinstance(higher, bool):
        raise UserError(f"{where}: metric '{name}': higher_is_better must be true or false, not {higher!r}.")
    return Entry(
        name=name,
        function=metric if callable(metric) else None,
        aggregation=options.pop("aggregation", None),
        higher_is_better=higher,
        from_evaluate=options.pop("hf_evaluate", False) is True,
        options=options,
        output_type=output_type,
        where=where,
    )
