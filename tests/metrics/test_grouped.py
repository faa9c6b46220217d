from __future__ import annotations

from typing import Any

import pytest

from hydra_eval.errors import UserError
from hydra_eval.metrics.base import ChoiceOutcome, LikelihoodOutcome
from hydra_eval.metrics.build import build_metrics

PASSAGES = [("p1", True), ("p1", True), ("p2", True), ("p2", False), ("p3", True)]
"""(passage, the answer is right): two of three passages are right throughout."""


def choice(passage: str, right: bool) -> ChoiceOutcome:
    doc = {"passage": passage, "idx": {"paragraph": passage, "question": 0}}
    return ChoiceOutcome(choices="ab", gold=0, logprobs=[-1, -2 if right else 0], is_greedy=[False, False], doc=doc)


def metric(output_type: str, **options: Any) -> Any:
    (bound,) = build_metrics({"acc_all": options}, output_type=output_type, has_process_results=False, where="my.yaml")
    return bound


@pytest.mark.parametrize(
    "options", [{"group_by": "passage"}, {"group_by": ["passage"]}, {}], ids=["one", "list", "idx"]
)
def test_all_choices_of_a_group(options: dict[str, Any]) -> None:
    bound = metric("multiple_choice", **options)
    assert bound.aggregation.combine([bound.score(choice(*answer)) for answer in PASSAGES]) == pytest.approx(2 / 3)


def test_all_continuations_of_a_group() -> None:
    bound = metric("loglikelihood", group_by="passage")
    outcomes = [
        LikelihoodOutcome(text="x", logprob=-1.0, is_greedy=right, doc={"passage": passage})
        for passage, right in PASSAGES
    ]
    assert bound.aggregation.combine(list(map(bound.score, outcomes))) == pytest.approx(2 / 3)


def test_a_column_that_is_not_there() -> None:
    with pytest.raises(UserError, match=r"no column 'idx.page' to group by. Columns: passage, idx.*option group_by"):
        metric("multiple_choice", group_by=["idx.page"]).score(choice("p1", True))
