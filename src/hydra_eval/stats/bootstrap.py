"""Bootstrap standard errors: lm-eval's draws to the last one, without its loop.

lm-eval resamples in chunks of 1,000; chunk `i` draws with `random.Random(i).choices`, which takes element
`floor(random() * n)`. NumPy's legacy generator runs the same Mersenne Twister and makes its doubles alike: set to the
same state, it gives the same draws, a block at a time.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hydra_eval.stats.corpus import sentence_counts

Draws: TypeAlias = NDArray[np.intp]
"""Resamples × documents: indices into the values."""
Replicates: TypeAlias = NDArray[np.float64]
"""One number per resample."""
Table: TypeAlias = NDArray[np.float64]
"""Resamples × right class × predicted class: how many documents."""
Statistic: TypeAlias = Callable[[Draws], Replicates]

CHUNK = 1000
BLOCK = 1 << 17
"""Most indices in memory at once; this many fit the processor's cache."""


def bootstrap_stderr(statistic: Statistic, size: int, *, resamples: int) -> float | None:
    """Standard deviation (n-1) of `statistic` over resamples of `size` documents; None for fewer than two.

    As in lm-eval, what is left over from whole chunks of 1,000 is not drawn.
    """
    replicates = np.concatenate([statistic(draws) for draws in index_draws(size, resamples=resamples)])
    return float(np.std(replicates, ddof=1)) if replicates.size > 1 else None


def index_draws(size: int, *, resamples: int) -> Iterator[Draws]:
    """All resamples in order, in blocks of at most `BLOCK` indices."""
    chunk = min(CHUNK, resamples)
    rows = max(1, min(chunk, BLOCK // size))
    for seed in range(resamples // chunk):
        generator = twin(random.Random(seed))
        for start in range(0, chunk, rows):
            uniform = generator.random_sample((min(rows, chunk - start), size))
            yield (uniform * size).astype(np.intp)


def twin(generator: random.Random) -> np.random.RandomState:
    """A NumPy generator whose next doubles are those that `generator.random()` would give."""
    *key, position = generator.getstate()[1]
    twin_generator = np.random.RandomState()
    twin_generator.set_state(("MT19937", np.array(key, dtype=np.uint32), int(position), 0, 0.0))
    return twin_generator


def resampled(name: str, combine: Callable[[Sequence[Any]], Any], values: Sequence[Any]) -> Statistic:
    """The aggregation `name` over resamples of `values`: vectorised where `FAST` can, else `combine` in a loop."""
    fast = FAST[name](values) if name in FAST else None
    return fast or (
        lambda draws: np.array([combine([values[index] for index in draw]) for draw in draws.tolist()], dtype=float)
    )


def fast_perplexity(values: Sequence[float]) -> Statistic:
    logprobs = np.asarray(values, dtype=float)

    def statistic(draws: Draws) -> Replicates:
        with np.errstate(over="ignore"):
            replicates: Replicates = np.exp(-logprobs[draws].mean(axis=1))
        return replicates

    return statistic


def fast_median(values: Sequence[float]) -> Statistic:
    numbers = np.asarray(values, dtype=float)
    middle = len(values) // 2
    # A copy, because a view would keep every block of resamples in memory.
    return lambda draws: np.partition(numbers[draws], middle, axis=1)[:, middle].copy()


def fast_nanmean(values: Sequence[float]) -> Statistic:
    numbers = np.asarray(values, dtype=float)
    known = ~np.isnan(numbers)
    filled = np.where(known, numbers, 0.0)

    def statistic(draws: Draws) -> Replicates:
        with np.errstate(invalid="ignore"):
            replicates: Replicates = filled[draws].sum(axis=1) / known[draws].sum(axis=1)
        return replicates

    return statistic


def fast_f1(values: Sequence[tuple[Any, Any]]) -> Statistic | None:
    """None where the classes are not 0 and 1: scikit-learn's special cases then stay its own business."""
    if not {label for pair in values for label in pair} <= {0, 1}:
        return None
    counts = confusion_counts(values, {0: 0, 1: 1})

    def statistic(draws: Draws) -> Replicates:
        table = counts(draws)
        hits = 2.0 * table[:, 1, 1]
        positives = table[:, 1, :].sum(axis=1) + table[:, :, 1].sum(axis=1)
        return share(hits, positives)

    return statistic


def fast_classes(average: Callable[[Table], Replicates]) -> Callable[[Sequence[tuple[Any, Any]]], Statistic]:
    """For averages over classes that follow from the confusion table alone."""

    def prepared(values: Sequence[tuple[Any, Any]]) -> Statistic:
        counts = confusion_counts(values, class_codes(values))
        return lambda draws: average(counts(draws).astype(float))

    return prepared


def f1_macro(table: Table) -> Replicates:
    present = table.sum(axis=2) + table.sum(axis=1) > 0
    return share(class_f1(table).sum(axis=1), present.sum(axis=1))


def f1_weighted(table: Table) -> Replicates:
    golds = table.sum(axis=2)
    return share((class_f1(table) * golds).sum(axis=1), golds.sum(axis=1))


def f1_micro(table: Table) -> Replicates:
    return share(np.trace(table, axis1=1, axis2=2), table.sum(axis=(1, 2)))


def f1_max(table: Table) -> Replicates:
    best: Replicates = class_f1(table).max(axis=1)
    return best


def balanced_acc(table: Table) -> Replicates:
    golds = table.sum(axis=2)
    recall = share(np.diagonal(table, axis1=1, axis2=2), golds)
    return share(recall.sum(axis=1), (golds > 0).sum(axis=1))


def class_f1(table: Table) -> NDArray[np.float64]:
    """Resamples × classes."""
    return share(2.0 * np.diagonal(table, axis1=1, axis2=2), table.sum(axis=2) + table.sum(axis=1))


def fast_matthews(values: Sequence[tuple[Any, Any]]) -> Statistic:
    counts = confusion_counts(values, class_codes(values))

    def statistic(draws: Draws) -> Replicates:
        table = counts(draws).astype(float)
        golds, predicted = table.sum(axis=2), table.sum(axis=1)
        squared = float(len(values)) ** 2
        covariance = np.trace(table, axis1=1, axis2=2) * len(values) - (golds * predicted).sum(axis=1)
        spread = (squared - (golds**2).sum(axis=1)) * (squared - (predicted**2).sum(axis=1))
        return share(covariance, np.sqrt(spread))

    return statistic


def fast_corpus(name: str) -> Callable[[Sequence[Any]], Statistic | None]:
    """For sacrebleu's metrics: every document is compared with its references once, not once per resample."""

    def prepared(values: Sequence[Any]) -> Statistic | None:
        found = sentence_counts(name, values)
        if found is None:
            return None
        counts, score = found
        return lambda draws: np.array([score(counts[draw].sum(axis=0)) for draw in draws])

    return prepared


def class_codes(values: Sequence[tuple[Any, Any]]) -> dict[Any, int]:
    labels = dict.fromkeys(label for pair in values for label in pair)
    return {label: code for code, label in enumerate(labels)}


def confusion_counts(values: Sequence[tuple[Any, Any]], codes: dict[Any, int]) -> Callable[[Draws], NDArray[np.int64]]:
    """Draws → one table per resample: how often gold class i (row) was predicted as class j (column)."""
    classes = len(codes)
    cells = classes * classes
    cell_of = np.array([codes[gold] * classes + codes[predicted] for gold, predicted in values], dtype=np.intp)

    def counts(draws: Draws) -> NDArray[np.int64]:
        rows = len(draws)
        cell = cell_of[draws] + cells * np.arange(rows)[:, np.newaxis]
        return np.bincount(cell.ravel(), minlength=rows * cells).reshape(rows, classes, classes)

    return counts


def share(part: NDArray[Any], whole: NDArray[Any]) -> Replicates:
    """`part / whole`, and 0 where `whole` is 0, as scikit-learn has it."""
    quotient: Replicates = np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0)
    return quotient


FAST: dict[str, Callable[[Sequence[Any]], Statistic | None]] = {
    "perplexity": fast_perplexity,
    "median": fast_median,
    "nanmean": fast_nanmean,
    "f1": fast_f1,
    "matthews_corrcoef": fast_matthews,
    "f1_macro": fast_classes(f1_macro),
    "f1_micro": fast_classes(f1_micro),
    "f1_weighted": fast_classes(f1_weighted),
    "f1_max": fast_classes(f1_max),
    "balanced_acc": fast_classes(balanced_acc),
    **{name: fast_corpus(name) for name in ("bleu", "chrf", "chrf++", "ter")},
}
"""Aggregation → its vectorised form over resamples."""
