"""`fewshot_strategy=NAME` for each strategy, with a line that says what it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from hydra_eval.fewshot import STRATEGIES

OPTIONS = Path(__file__).parents[2] / "conf" / "fewshot_strategy"


def test_each_strategy_is_an_option() -> None:
    assert sorted(path.stem for path in OPTIONS.glob("*.yaml")) == sorted(STRATEGIES)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_an_option_says_what_it_is_and_sets_nothing_else(strategy: str) -> None:
    package, about, *content = (OPTIONS / f"{strategy}.yaml").read_text(encoding="utf-8").splitlines()
    assert (package, content) == ("# @package fewshot", [f"strategy: {strategy}"])
    assert about.startswith("# ") and about.endswith(".")
