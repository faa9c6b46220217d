from __future__ import annotations

from typing import Any

import pytest

from hydra_eval.filters.invalid import invalid_rates
from hydra_eval.records import SampleRow


def row(*outputs: Any, task: str = "t", pipeline: str = "p") -> SampleRow:
    return SampleRow(
        task=task,
        doc_id=0,
        filter=pipeline,
        doc={},
        target="x",
        arguments=(),
        resps=(),
        filtered_resps=outputs,
        scores={},
    )


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        pytest.param([row("[invalid]"), row("a"), row(""), row("b")], 0.25, id="texts"),
        pytest.param([row(["[invalid]", "a"]), row(["b", "b"])], 0.25, id="several_replies"),
        pytest.param([row([["invalid"]]), row([["NOUN", "invalid"]])], 0.5, id="tags"),
        pytest.param([row("a")], 0.0, id="none"),
    ],
)
def test_share_of_documents(rows: list[SampleRow], expected: float) -> None:
    assert invalid_rates(rows) == {"t": {"p": expected}}


def test_each_pipeline_has_its_own_rate() -> None:
    rows = [row("[invalid]"), row("[invalid]", pipeline="q"), row("a", pipeline="q"), row("a", task="u")]
    assert invalid_rates(rows) == {"t": {"p": 1.0, "q": 0.5}, "u": {"p": 0.0}}


@pytest.mark.parametrize("output", [(-1.5, True), -3.0, None, []], ids=["choice", "rolling", "nothing", "empty"])
def test_what_is_no_text_has_no_rate(output: Any) -> None:
    assert invalid_rates([row(output)]) == {}
