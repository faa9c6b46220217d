"""Metric parameters of the command line: `task=NAME@k=4@n=16`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hydra_eval.errors import UserError, did_you_mean, known_names
from hydra_eval.metrics.entries import Entry


def with_parameters(
    entries: Sequence[tuple[Entry, frozenset[str] | None]], parameters: Mapping[str, Any], *, where: str
) -> list[Entry]:
    """Each entry with those of the parameters that its metric takes, over the task's own options.

    `entries` are (metric, names of the options it takes, None for any). Raises UserError for a parameter that no
    metric takes.
    """
    for name in parameters:
        if not any(takes is None or name in takes for _, takes in entries):
            known = {option for _, takes in entries for option in takes or ()}
            raise UserError(
                f"{where}: no metric of the task takes the parameter '{name}'.{did_you_mean(name, known)} "
                f"{'; '.join(_told(entry, takes) for entry, takes in entries) or 'It has no metrics'}."
            )
    return [_given(entry, takes, parameters) for entry, takes in entries]


def metric_key(entry: Entry, options: Mapping[str, Any], shown: Iterable[str]) -> str:
    """The metric's name with the options that tell two settings of it apart: `pass@k:k=4&n=16`."""
    names = dict.fromkeys([*shown, *entry.typed])
    settings = "&".join(f"{name}={options[name]}" for name in names if name in options)
    return f"{entry.name}:{settings}" if settings else entry.name


def _given(entry: Entry, takes: frozenset[str] | None, parameters: Mapping[str, Any]) -> Entry:
    own = {name: value for name, value in parameters.items() if takes is None or name in takes}
    return replace(entry, options={**entry.options, **own}, typed=tuple(own))


def _told(entry: Entry, takes: frozenset[str] | None) -> str:
    return f"'{entry.name}' takes {known_names(takes) if takes else 'none'}"
