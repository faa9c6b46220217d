from __future__ import annotations

import math
import random
import statistics
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from hydra_eval.metrics import AGGREGATIONS
from hydra_eval.stats.bootstrap import BLOCK, FAST, bootstrap_stderr, index_draws, resampled, twin

_numbers = random.Random(5)
LOGPROBS = [-_numbers.expovariate(0.5) for _ in range(23)]
VALUES: dict[str, list[Any]] = {
    "perplexity": LOGPROBS,
    "median": [_numbers.randrange(9) for _ in range(20)],
    "nanmean": [*LOGPROBS[:3], math.nan, math.nan, math.nan],
    "f1": [(_numbers.randrange(2), _numbers.randrange(2)) for _ in range(6)],
    "matthews_corrcoef": [(_numbers.choice("abc"), _numbers.choice("abc")) for _ in range(5)],
}
_classes = [(_numbers.choice("abcd"), _numbers.choice("abc")) for _ in range(7)]
_words = ["the cat sat on the mat", "a dog", "it rained, and it rained", "no"]
_texts = [(_numbers.choice(_words), _numbers.choice(_words)) for _ in range(6)]
VALUES |= dict.fromkeys(("f1_macro", "f1_micro", "f1_weighted", "f1_max", "balanced_acc"), _classes)
VALUES |= dict.fromkeys(("bleu", "chrf", "chrf++", "ter"), _texts)


def replicates(name: str, values: Sequence[Any], *, resamples: int) -> list[float]:
    """By the recipe: chunks of at most 1,000, chunk i drawn by `random.Random(i).choices`."""
    chunk = min(1000, resamples)
    return [
        float(AGGREGATIONS[name].combine(generator.choices(values, k=len(values))))
        for seed in range(resamples // chunk)
        for generator in [random.Random(seed)]
        for _ in range(chunk)
    ]


@pytest.mark.parametrize("used", [0, 3, 1000])
def test_twin_goes_on_where_the_generator_stands(used: int) -> None:
    generator = random.Random("any seed")
    for _ in range(used):
        generator.random()
    twin_generator = twin(generator)
    assert twin_generator.random_sample(1500).tolist() == [generator.random() for _ in range(1500)]


@pytest.mark.parametrize(("size", "resamples"), [(1, 5), (7, 1999), (BLOCK // 3, 7), (BLOCK + 1, 2)])
def test_draws_are_those_of_choices(size: int, resamples: int) -> None:
    draws = np.concatenate(list(index_draws(size, resamples=resamples)))
    generator = random.Random(0)
    expected = [generator.choices(range(size), k=size) for _ in range(min(1000, resamples))]
    assert draws.tolist() == expected


def test_each_chunk_has_its_own_seed() -> None:
    draws = np.concatenate(list(index_draws(50, resamples=3000)))
    assert [draws[1000 * seed].tolist() for seed in range(3)] == [
        random.Random(seed).choices(range(50), k=50) for seed in range(3)
    ]


@pytest.mark.filterwarnings("ignore")  # scikit-learn's, on resamples that lack a class
@pytest.mark.parametrize("name", sorted(FAST))
def test_the_vectorised_form_equals_the_loop(name: str) -> None:
    values = VALUES[name]
    statistic = resampled(name, AGGREGATIONS[name].combine, values)
    found = np.concatenate([statistic(draws) for draws in index_draws(len(values), resamples=120)])
    assert found.tolist() == pytest.approx(replicates(name, values, resamples=120), rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("name", sorted(FAST))
def test_replicates_keep_no_resamples_in_memory(name: str) -> None:
    statistic = resampled(name, AGGREGATIONS[name].combine, VALUES[name])
    (draws,) = index_draws(len(VALUES[name]), resamples=10)
    assert statistic(draws).base is None


def test_other_aggregations_go_through_the_loop() -> None:
    values = [3.0, 1.0, 2.0, 8.0]
    statistic = resampled("largest", max, values)
    found = bootstrap_stderr(statistic, len(values), resamples=50)
    generator = random.Random(0)
    assert found == pytest.approx(statistics.stdev(max(generator.choices(values, k=4)) for _ in range(50)))


def test_classes_that_f1_does_not_know_go_through_the_loop() -> None:
    assert FAST["f1"]([(0, 2), (1, 1)]) is None


def test_one_resample_has_no_spread() -> None:
    assert bootstrap_stderr(resampled("largest", max, [1, 2]), 2, resamples=1) is None
