"""Which options a metric takes, and whether it got those."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Mapping
from typing import Any

from hydra_eval.errors import UserError, did_you_mean, known_names
from hydra_eval.metrics.entries import Entry
from hydra_eval.patterns import compile_patterns

logger = logging.getLogger(__name__)

WITHOUT_EFFECT = frozenset(
    {
        "ignore_case",
        "ignore_punctuation",
        "ignore_numbers",
        "regexes_to_ignore",
        "average",
        "weight_by_size",
        "high_is_better",
    }
)
"""Options that tasks written for lm-eval give to metrics that do not take them; lm-eval passes over them.

`high_is_better` is a slip of one of its own tasks.
"""


def keyword_options(score: Callable[..., Any]) -> frozenset[str]:
    """What one of our scores takes besides the outcome."""
    return frozenset(parameter.name for parameter in _keywords(score))


def required_options(score: Callable[..., Any]) -> frozenset[str]:
    """Those of them that have no default."""
    return frozenset(parameter.name for parameter in _keywords(score) if parameter.default is parameter.empty)


def checked_options(entry: Entry, known: frozenset[str] | None) -> dict[str, Any]:
    """The options that the metric takes (`known`; None: any), after those without effect are left out."""
    if known is None:
        return dict(entry.options)
    takes = f"It takes: {known_names(known)}." if known else "It takes no options."
    for option in entry.options:
        if option not in known | WITHOUT_EFFECT:
            near = did_you_mean(option, known | WITHOUT_EFFECT | {"aggregation", "higher_is_better"})
            raise UserError(f"{entry.here} has no option '{option}'.{near} {takes}")
        if option not in known:
            logger.debug("%s: option %s has no effect on it", entry.here, option)
    options = {option: value for option, value in entry.options.items() if option in known}
    _check_patterns(entry, options)
    return options


def _keywords(score: Callable[..., Any]) -> list[inspect.Parameter]:
    return [p for p in inspect.signature(score).parameters.values() if p.kind is p.KEYWORD_ONLY]


def _check_patterns(entry: Entry, options: Mapping[str, Any]) -> None:
    try:
        compile_patterns(options.get("regexes_to_ignore"))
    except UserError as error:
        raise UserError(f"{entry.here}: regexes_to_ignore: {error}.") from error
