"""Two processes hold slices of one model: the same rows as from one, each once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.program import results_in, run_program, samples_in

from .asked import changed_weights

pytestmark = pytest.mark.multiprocess


def run(folder: Path, name: str, model: Path, *overrides: str, processes: int) -> Path:
    done = run_program(
        *("task=demo", "limit=6", "tracker=none", "model=hf", f"model.pretrained={model}", f"hydra.run.dir={name}"),
        *("model.max_length=1024", *overrides),
        processes=processes,
        cwd=folder,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / name


def replies(folder: Path) -> list[tuple[str, int, Any]]:
    rows = [json.loads(line) for content in samples_in(folder).values() for line in content.decode().splitlines()]
    return [(row["doc_hash"], row["doc_id"], row["resps"]) for row in rows]


def said(reply: Any) -> Any:
    """A text, or a sum in nats and whether it is greedy: a samples file has them as texts."""
    return reply if isinstance(reply, str) else [float(reply[0]), reply[1] == "True"]


def test_slices_of_a_model_answer_together(tiny_folder: Path, tmp_path: Path) -> None:
    delta = f"model.delta={changed_weights(tiny_folder, tmp_path / 'delta', scale=0.05)}"
    whole = run(tmp_path, "whole", tiny_folder, delta, processes=1)
    sliced = run(tmp_path, "sliced", tiny_folder, delta, "model.tp_plan=auto", processes=2)
    one, two = replies(whole), replies(sliced)
    assert [row[:2] for row in one] == [row[:2] for row in two]
    for (*_, ours), (*_, theirs) in zip(one, two, strict=True):
        for left, right in zip(ours, theirs, strict=True):
            assert said(left[0]) == pytest.approx(said(right[0]), abs=1e-4)
    config = results_in(sliced)["config"]
    assert config["model_args"] == {
        "pretrained": str(tiny_folder),
        "delta": str(tmp_path / "delta"),
        "tp_plan": "auto",
    }
    assert config["delta_sha"] is None and "peft_sha" not in config
    facts, own = (results_in(folder)["hydra_eval"] for folder in (sliced, whole))
    assert (facts["model"]["tensor_parallel"], facts["engine"]["prefix_sharing"]) == (2, True)
    sent = [found["efficiency"]["total"]["forward_tokens"] for found in (facts, own)]
    assert sent[0] == sent[1] > 0
