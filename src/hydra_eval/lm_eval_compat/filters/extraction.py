"""The filter classes that task code derives its own from, over our filters of the same name."""

from __future__ import annotations

import re
from typing import Any

from hydra_eval.filters.extraction import FINAL_NUMBER, NOT_FOUND, MultiChoiceRegex, regex, regex_pos
from hydra_eval.filters.transformation import remove_whitespace
from hydra_eval.lm_eval_compat.api.filter import Filter as Filter

__all__ = ["Filter", "MultiChoiceRegexFilter", "POSFilter", "RegexFilter", "WhitespaceFilter"]


class RegexFilter(Filter):
    """Subclasses read the fields and call the constructor by position."""

    def __init__(self, regex_pattern: str = FINAL_NUMBER, group_select: int = 0, fallback: str = NOT_FOUND) -> None:
        self.regex_pattern = regex_pattern
        self.regex = re.compile(regex_pattern)
        self.group_select = group_select
        self.fallback = fallback

    def apply(self, resps: Any, docs: Any) -> list[Any]:
        step = regex(regex_pattern=self.regex_pattern, group_select=self.group_select, fallback=self.fallback)
        return step(list(resps), list(docs))


class MultiChoiceRegexFilter(RegexFilter):
    def __init__(
        self,
        regex_pattern: str = FINAL_NUMBER,
        group_select: int = 0,
        fallback: str = NOT_FOUND,
        **ignored: Any,
    ) -> None:
        """`ignored`: ignore_case, ignore_punctuation, regexes_to_ignore."""
        super().__init__(regex_pattern, group_select, fallback)
        self.ignored = ignored

    def apply(self, resps: Any, docs: Any) -> list[Any]:
        step = MultiChoiceRegex(
            regex_pattern=self.regex_pattern, group_select=self.group_select, fallback=self.fallback, **self.ignored
        )
        return step(list(resps), list(docs))


class POSFilter(Filter):
    def __init__(self, regex_pattern: str = r"\['(.*?)'\]", group_select: int = 0, fallback: Any = None) -> None:
        self.fallback = ["invalid"] if fallback is None else fallback

    def apply(self, resps: Any, docs: Any) -> list[Any]:
        return regex_pos(fallback=self.fallback)(list(resps), list(docs))


class WhitespaceFilter(Filter):
    def apply(self, resps: Any, docs: Any) -> list[Any]:
        return remove_whitespace()(list(resps), list(docs))
