"""sacrebleu's corpus metrics: a value is a pair (gold, reply), its gold a text or a list of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hydra_eval.errors import UserError

Pairs: TypeAlias = Sequence[Sequence[Any]]
Streams: TypeAlias = tuple[tuple[str, ...], ...]
"""References as sacrebleu wants them: the first of every document, the second of every document, …"""


def bleu(values: Pairs) -> float:
    """0 to 100; tokenised as `13a`, exponential smoothing."""
    return _corpus_score("bleu", values)


def chrf(values: Pairs) -> float:
    """0 to 100; character 6-grams, β = 2."""
    return _corpus_score("chrf", values)


def chrf_plus_plus(values: Pairs) -> float:
    """`chrf` with word bigrams."""
    return _corpus_score("chrf++", values)


def ter(values: Pairs) -> float:
    """Edits per 100 words of the references; lower is better, and it may be above 100."""
    return _corpus_score("ter", values)


def sentence_counts(name: str, values: Pairs) -> tuple[NDArray[Any], Callable[[NDArray[Any]], float]] | None:
    """(one row of counts per document, summed counts → score), the form that sacrebleu keeps for its own bootstrap.

    None where documents differ in their number of references: each resample then has a number of its own.
    """
    if len({len(_references(gold, name)) for gold, _ in values}) > 1:
        return None
    metric = _metric(name)
    counts = np.array(_statistics(name, *_streams(name, values)))
    return counts, lambda summed: float(metric._compute_score_from_stats(summed.tolist()).score)


def _corpus_score(name: str, values: Pairs) -> float:
    return float(_metric(name)._aggregate_and_compute(_statistics(name, *_streams(name, values))).score)


@lru_cache(maxsize=4)
def _statistics(name: str, replies: tuple[str, ...], references: Streams) -> list[list[float]]:
    """Per document, what its score is made of. Kept for the bootstrap that follows: ter takes a minute for a corpus."""
    found: list[list[float]] = _metric(name)._extract_corpus_statistics(replies, references)
    return found


def _metric(name: str) -> Any:
    """sacrebleu's metric with lm-eval's settings."""
    from sacrebleu.metrics import BLEU, CHRF, TER

    makers: dict[str, Callable[[], Any]] = {
        "bleu": BLEU,
        "chrf": CHRF,
        "chrf++": lambda: CHRF(word_order=2),
        "ter": TER,
    }
    return makers[name]()


def _streams(name: str, values: Pairs) -> tuple[tuple[str, ...], Streams]:
    """(replies, reference streams). Documents keep as many references as the one with the fewest has, as in lm-eval."""
    for value in values:
        if not isinstance(value, list | tuple) or len(value) != 2:
            raise UserError(f"aggregation '{name}' combines pairs [gold, reply], but a document's value is {value!r}.")
    references = [_references(gold, name) for gold, _ in values]
    return tuple(_reply(reply, name) for _, reply in values), tuple(zip(*references, strict=False))


def _references(gold: Any, name: str) -> list[str]:
    references = list(gold) if isinstance(gold, list | tuple) else [gold]
    if not references or not all(isinstance(reference, str) for reference in references):
        raise UserError(f"aggregation '{name}' needs a text, or a list of them, as gold; a document has {gold!r}.")
    return references


def _reply(reply: Any, name: str) -> str:
    """A list of one reply, such as majority_vote leaves, counts as that reply."""
    if isinstance(reply, list | tuple) and len(reply) == 1:
        reply = reply[0]
    if not isinstance(reply, str):
        raise UserError(f"aggregation '{name}' needs one text per document; a filter pipeline left {reply!r}.")
    return reply
