from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from hydra_eval.errors import UserError
from hydra_eval.metrics.base import BoundMetric, GenerationOutcome
from hydra_eval.metrics.build import build_metrics

pytest.importorskip("evaluate", reason="needs the library evaluate (extra: parity)")

SCRIPT = """
import datasets
import evaluate

class SameLength(evaluate.Metric):
    def _info(self):
        features = datasets.Features({"predictions": datasets.Value("string"), "references": datasets.Value("string")})
        return evaluate.MetricInfo(description="", citation="", inputs_description="", features=features)

    def _compute(self, predictions, references, scale=1.0):
        return {"same_length": scale * float(len(predictions[0]) == len(references[0]))}
"""


def build(entry: dict[str, Any], output_type: str = "generate_until") -> BoundMetric:
    (metric,) = build_metrics([entry], output_type=output_type, has_process_results=False, where="my.yaml")
    return metric


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A metric of the library in a folder of its own, away from the user's cache."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("evaluate.config.HF_MODULES_CACHE", str(tmp_path / "modules"))
    monkeypatch.syspath_prepend(tmp_path / "modules")
    for name in [name for name in sys.modules if name.partition(".")[0] == "evaluate_modules"]:
        monkeypatch.delitem(sys.modules, name)
    (tmp_path / "same_length").mkdir()
    (tmp_path / "same_length" / "same_length.py").write_text(SCRIPT, encoding="utf-8")
    return tmp_path / "same_length"


def test_a_metric_of_the_library_is_called_document_by_document(folder: Path) -> None:
    metric = build({"metric": str(folder), "hf_evaluate": True, "aggregation": "mean", "scale": 2.0})
    assert metric.score is not None
    scores = [metric.score(GenerationOutcome(prediction=reply, gold="abc")) for reply in ("xyz", "x")]
    assert scores == [{"same_length": 2.0}, {"same_length": 0.0}]


@pytest.mark.parametrize(
    ("entry", "here"),
    [
        pytest.param({"metric": "f1", "hf_evaluate": True}, "my.yaml: metric 'f1' comes from", id="asked_for"),
        pytest.param({"metric": "no_such"}, "my.yaml: metric 'no_such' is none of ours (", id="unknown_name"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_a_metric_that_cannot_be_loaded(entry: dict[str, Any], here: str) -> None:
    with pytest.raises(UserError) as caught:
        build({**entry, "aggregation": "mean"})
    assert str(caught.value).startswith(here)
    assert "comes from the library evaluate, which cannot load it: " in str(caught.value)
    assert "Name a local copy of its script" in str(caught.value)


def test_of_choices_it_is_never_called() -> None:
    metric = build({"metric": "f1", "hf_evaluate": True}, "multiple_choice")
    assert metric.aggregation.name == "f1"
