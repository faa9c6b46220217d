"""Keys of the run's config that are about data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hydra_eval.config.schema import DataConfig, RunConfig, SubsetConfig
from hydra_eval.errors import UserError


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: RunConfig(limit={"a": 0}), "limit.a=0: must be a whole number of documents from 1, or a share"),
        (lambda: RunConfig(limit={"a": "x"}), "limit.a='x'"),
        (lambda: RunConfig(sample_ids=[1]), r"sample_ids=\[1\]: must map tasks to lists of document numbers"),
        (lambda: RunConfig(sample_ids={"a": 1}), "sample_ids.a=1: must be a list of document numbers, from 0"),
        (lambda: RunConfig(sample_ids={"a": []}), r"sample_ids.a=\[\]"),
        (lambda: RunConfig(sample_ids={"a": [-1]}), r"sample_ids.a=\[-1\]"),
        (lambda: RunConfig(sample_ids={"a": [1.5]}), r"sample_ids.a=\[1.5\]"),
        (lambda: RunConfig(limit=1, sample_ids={"a": [1]}), "^limit and sample_ids both choose documents"),
        (lambda: RunConfig(limit=1, subset=SubsetConfig(n=3)), "^limit and subset.n both choose documents"),
        (lambda: SubsetConfig(n=0), "subset.n=0: must be a whole number of documents from 1"),
        (lambda: SubsetConfig(n=1.5), "subset.n=1.5"),
        (lambda: DataConfig(retries=-1), "data.retries=-1: must be at least 0"),
        (lambda: DataConfig(workers=0), "data.workers=0: must be at least 1"),
    ],
)
def test_values_out_of_range_are_said_with_key_and_value(build: Callable[[], Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        build()


@pytest.mark.parametrize(
    "build",
    [
        lambda: RunConfig(limit={"a": 1, "b": 0.5}),
        lambda: RunConfig(sample_ids={"a": [0]}),
        lambda: RunConfig(sample_ids="ids.json"),
        lambda: SubsetConfig(n=0.1, seed=0, stratify="kind"),
        lambda: DataConfig(retries=0, workers=1),
    ],
    ids=["limits", "numbers", "file of numbers", "subset", "least"],
)
def test_values_at_the_edge_are_taken(build: Callable[[], Any]) -> None:
    assert build()
