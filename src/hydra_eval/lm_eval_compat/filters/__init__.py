"""Stands for `lm_eval.filters`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from hydra_eval.lm_eval_compat.api.filter import FilterEnsemble
from hydra_eval.lm_eval_compat.api.registry import get_filter


def build_filter_ensemble(
    filter_name: str, components: Iterable[tuple[Any, Mapping[str, Any] | None]]
) -> FilterEnsemble:
    """A chain from (filter's name or class, its options)."""
    return FilterEnsemble(filter_name, [partial(get_filter(name), **(options or {})) for name, options in components])
