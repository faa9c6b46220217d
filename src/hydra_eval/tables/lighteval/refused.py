"""Metrics of lighteval's that need another model: they can be named in a task file, and are refused with the task."""

from __future__ import annotations

from typing import Any

from hydra_eval.tables.lighteval.metric_types import SampleLevelComputation


class NotSupported(SampleLevelComputation):
    """Takes any options, so that the file it stands in can be read."""

    refused = "another model"
    """What it would need."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass


class JudgeLLM(NotSupported):
    """A model as judge."""

    refused = "a model as judge"


class JudgeLLMSimpleQA(JudgeLLM):
    """SimpleQA's judge."""


class JudgeLLMMTBench(JudgeLLM):
    """MT-Bench's judge."""


class JudgeLLMMixEval(JudgeLLM):
    """MixEval's judge."""


class BertScore(NotSupported):
    """BERTScore."""

    refused = "a scorer model (BERTScore)"


class BLEURT(NotSupported):
    """BLEURT."""

    refused = "a scorer model (BLEURT)"


class Faithfulness(NotSupported):
    """SummaC."""

    refused = "a scorer model (SummaC)"


class Extractiveness(NotSupported):
    """Coverage, density and compression of summaries."""

    refused = "a parser of spaCy's"
