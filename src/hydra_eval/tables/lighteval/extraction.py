"""Answers taken out of free text: the letter of a choice, or a mathematical expression (math-verify's)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from string import ascii_uppercase
from typing import Any, TypeAlias

from hydra_eval.errors import UserError
from hydra_eval.tables.lighteval.answers import ModelResponse
from hydra_eval.tables.lighteval.docs import Doc
from hydra_eval.tables.lighteval.language import Language
from hydra_eval.tables.lighteval.metric_types import SampleLevelComputation
from hydra_eval.tables.optional import needed


@dataclass(frozen=True)
class IndicesExtractionConfig:
    """The letter or number of a choice."""

    prefix_for_extraction: str
    """Letters, NativeLetters or Numbers."""
    try_extract_without_anchor: bool = False
    """Also where no word such as `answer` leads to it."""


@dataclass(frozen=True)
class LatexExtractionConfig:
    """LaTeX, in a box or between dollars."""

    try_extract_without_anchor: bool = True
    boxed_match_priority: int = 55
    """0: a box counts before everything else; -1: never."""
    normalization_config: Any = None
    """math-verify's; None: its default."""


@dataclass(frozen=True)
class ExprExtractionConfig:
    """A number, or an expression of numbers."""

    try_extract_without_anchor: bool = True


ExtractionTarget: TypeAlias = IndicesExtractionConfig | LatexExtractionConfig | ExprExtractionConfig


@dataclass
class MultilingualExtractiveMatchMetric(SampleLevelComputation):
    """1 where what is found in a reply equals what is found in a right answer. English texts only."""

    language: Language = Language.ENGLISH
    gold_extraction_target: Sequence[ExtractionTarget] = (ExprExtractionConfig(),)
    pred_extraction_target: Sequence[ExtractionTarget] = (ExprExtractionConfig(), LatexExtractionConfig())
    aggregation_function: Callable[[list[float]], Any] = max
    fallback_mode: str = "first_match"
    """first_match: text that cannot be parsed is compared as text; no_fallback: it is nothing."""
    extraction_mode: str = "any_match"
    precision: int = 6
    """Decimal places in which numbers must agree."""
    timeout_seconds: int = 5

    def __post_init__(self) -> None:
        if self.language.value != "eng":
            raise UserError(f"extractive match: {self.language.name.title()} is not supported, only English.")

    @property
    def needs(self) -> tuple[str, ...]:
        targets = [*self.gold_extraction_target, *self.pred_extraction_target]
        return () if all(isinstance(target, IndicesExtractionConfig) for target in targets) else ("math_verify",)

    def compute(self, doc: Doc, model_response: ModelResponse, **kwargs: Any) -> Any:
        golds = doc.get_golds()
        found = [self._found(gold, self.gold_extraction_target, doc) for gold in golds]
        rights = found if all(found) else [[gold] for gold in golds]
        said = [self._found(reply, self.pred_extraction_target, doc) for reply in model_response.final_text]
        return self.aggregation_function([float(any(self._equal(gold, one) for gold in rights)) for one in said])

    def _found(self, text: str, targets: Sequence[ExtractionTarget], doc: Doc) -> list[Any]:
        for target in targets:
            if isinstance(target, IndicesExtractionConfig) and (index := find_index(text, target, len(doc.choices))):
                return [index]
        mathematical = [_for_math_verify(one) for one in targets if not isinstance(one, IndicesExtractionConfig)]
        if not mathematical:
            return []
        found: list[Any] = needed("math_verify").parse(
            text,
            extraction_config=mathematical,
            fallback_mode=self.fallback_mode,
            extraction_mode=self.extraction_mode,
            parsing_timeout=self.timeout_seconds,
        )
        return found

    def _equal(self, gold: list[Any], said: list[Any]) -> bool:
        if any(isinstance(one, str) and one in said for one in gold):
            return True
        if not said or all(isinstance(one, str) for one in [*gold, *said]):
            return False
        verify = needed("math_verify").verify
        return bool(verify(gold, said, float_rounding=self.precision, timeout_seconds=self.timeout_seconds))


def _for_math_verify(target: ExtractionTarget) -> Any:
    parser = needed("math_verify.parser")
    if isinstance(target, ExprExtractionConfig):
        return parser.ExprExtractionConfig(target.try_extract_without_anchor)
    assert isinstance(target, LatexExtractionConfig)
    own = {} if target.normalization_config is None else {"normalization_config": target.normalization_config}
    return parser.LatexExtractionConfig(
        try_extract_without_anchor=target.try_extract_without_anchor,
        boxed_match_priority=target.boxed_match_priority,
        **own,
    )


def find_index(text: str, target: IndicesExtractionConfig, count: int) -> str | None:
    """The letter of one of `count` choices, from the surest wording to the least; in each, what ends last counts."""
    for pattern in index_patterns(target, count):
        found = sorted(pattern.finditer(text), key=lambda match: (match.end(), -match.start()))
        if found:
            return found[-1]["index"].strip("()")
    return None


@lru_cache(maxsize=64)
def index_patterns(target: IndicesExtractionConfig, count: int) -> tuple[re.Pattern[str], ...]:
    names = ascii_uppercase if target.prefix_for_extraction != "Numbers" else [str(number) for number in range(1, 27)]
    wrapped = [rf"{name}|\({name}\)" for name in names[:count]]
    index = f"(?P<index>{'|'.join(wrapped)})"
    ended = rf"{index}(?:\*\*)?(?:[.,]|\s?:| |$)"
    apart = rf"(?:^| )(?:\*\*)?{ended}"
    anchored = (
        rf"(?i:final answer is):?\s*{index}\.?\s?I hope",
        rf"(?i:final answer.{{0,100}}?)\s+is:?\s*{index}",
        rf"(?i:answer)\s?:.{{0,50}}?{apart}",
        rf"(?i:answer).{{0,50}}?{apart}",
        rf"^(?:\*\*)?{ended}",
        rf"\n(?:\*\*)?{ended}",
    )
    loose = (apart, index) if target.try_extract_without_anchor else ()
    return tuple(map(re.compile, (*anchored, *loose)))
