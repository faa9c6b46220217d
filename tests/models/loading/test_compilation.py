from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ..building import load
from .asked import changed_weights, refused, scores

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def shallow(tiny_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One layer: what is compiled grows with their number."""
    return changed_weights(tiny_folder, tmp_path_factory.mktemp("shallow"), scale=0.3, num_hidden_layers=1)


@pytest.mark.parametrize("mode", ["fast", "defualt", 3], ids=str)
def test_a_mode_that_torch_does_not_know(mode: object, tiny_folder: Path) -> None:
    refused(
        tiny_folder, f"model.compile={mode}: not a mode of torch.compile.*Give true, or one of default", compile=mode
    )


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")
def test_a_compiled_model_scores_alike_and_counts_alike(shallow: Path) -> None:
    plainly = {"prefix_sharing": False, "batch_size": 1}  # one graph takes seconds to compile; trees take many
    own, compiled = (load(shallow, compile=mode, **plainly) for mode in (False, "reduce-overhead"))
    assert scores(compiled) == pytest.approx(scores(own), abs=1e-3)
    sent = [model.efficiency["loglikelihood"].forward_tokens for model in (own, compiled)]
    assert sent[0] == sent[1] > 0


COMPILE = """
import sys
from tests.models.building import load
load(sys.argv[1], compile=True)
"""


def test_a_machine_that_cannot_compile(shallow: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "CXX": "/no/such/compiler", "TORCHINDUCTOR_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", COMPILE, str(shallow)]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True)
    assert "UserError: model.compile=True: this model does not compile here" in done.stderr
