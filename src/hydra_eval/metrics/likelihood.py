"""Scores of a scored continuation, and of whole texts."""

from __future__ import annotations

import re

from hydra_eval.metrics.base import LikelihoodOutcome


def acc(outcome: LikelihoodOutcome) -> int:
    """The target is what greedy decoding gives."""
    return int(bool(outcome.is_greedy))


def logprob(outcome: LikelihoodOutcome) -> float:
    """Log-likelihood of the target in nats."""
    return outcome.logprob


def logprob_and_words(outcome: LikelihoodOutcome) -> tuple[float, int]:
    """(log-likelihood in nats, words); as in lm-eval, a blank at either end counts as one word more."""
    return outcome.logprob, len(re.split(r"\s+", outcome.text))


def logprob_and_bytes(outcome: LikelihoodOutcome) -> tuple[float, int]:
    """(log-likelihood in nats, UTF-8 bytes)."""
    return outcome.logprob, len(outcome.text.encode("utf-8"))
