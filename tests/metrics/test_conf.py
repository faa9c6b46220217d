"""The options of the config groups `metrics` and `filters` are ones that can be built."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from hydra_eval.filters.build import build_pipelines
from hydra_eval.metrics import METRICS
from hydra_eval.metrics.build import build_metrics

CONF = Path(__file__).resolve().parents[2] / "conf"
OUTPUT_TYPE = {"accuracy": "multiple_choice", "perplexity": "loglikelihood_rolling"}
"""Option → what it is for, where that is not generated text."""
PARAMETERS: dict[str, dict[str, Any]] = {"pass_at_k": {"k": 2}, "g_pass_at_k": {"k": 2}}
"""Option → what its metrics require."""


def options(group: str) -> list[str]:
    return sorted(path.stem for path in (CONF / group).glob("*.yaml"))


def content(group: str, option: str) -> Any:
    return yaml.safe_load((CONF / group / f"{option}.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("option", options("metrics"))
def test_metrics(option: str) -> None:
    spec = content("metrics", option)
    metrics = build_metrics(
        spec,
        output_type=OUTPUT_TYPE.get(option, "generate_until"),
        has_process_results=False,
        where=option,
        parameters=PARAMETERS.get(option),
    )
    assert len(metrics) == max(len(spec), 1)


@pytest.mark.parametrize("option", options("filters"))
def test_filters(option: str) -> None:
    assert all(pipeline.is_ours for pipeline in build_pipelines(content("filters", option), where=option))


def test_every_metric_over_several_replies_has_an_option() -> None:
    entries = [entry for option in options("metrics") for entry in content("metrics", option).items()]
    offered = {(entry or {}).get("metric", name) for name, entry in entries}
    assert offered >= {name for name in METRICS["generate_until"] if "@" in name}
