"""Between reply and score: what each filter is called, and what makes one from its options."""

from __future__ import annotations

from collections.abc import Callable

from hydra_eval.filters.base import Filter, Pipeline
from hydra_eval.filters.boxed import boxed
from hydra_eval.filters.custom import custom
from hydra_eval.filters.extraction import MultiChoiceRegex, regex, regex_pos
from hydra_eval.filters.fields import after, json_field
from hydra_eval.filters.reasoning import strip_reasoning
from hydra_eval.filters.selection import keep_all, majority_vote, take_first, take_first_k, take_last
from hydra_eval.filters.transformation import format_span, lowercase, map_values, remove_whitespace, uppercase

FILTERS: dict[str, Callable[..., Filter]] = {
    "regex": regex,
    "multi_choice_regex": MultiChoiceRegex,
    "regex_pos": regex_pos,
    "remove_whitespace": remove_whitespace,
    "lowercase": lowercase,
    "uppercase": uppercase,
    "map": map_values,
    "format_span": format_span,
    "strip_reasoning": strip_reasoning,
    "boxed": boxed,
    "after": after,
    "json_field": json_field,
    "all": keep_all,
    "take_first": take_first,
    "take_last": take_last,
    "take_first_k": take_first_k,
    "majority_vote": majority_vote,
    "custom": custom,
}
"""Name → factory: keyword options in, filter out."""

__all__ = ["FILTERS", "Filter", "Pipeline"]
