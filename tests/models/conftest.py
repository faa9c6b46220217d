"""Models are built and loaded once per session; nothing in them depends on what was asked before."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from hydra_eval.models.hf import HFModel

from .building import load, save_rigged, save_tiny, successor_logits, uniform_logits


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """Models as small as these run faster on one."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="session")
def tinybos_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("tinybos"), adds_bos=True)


@pytest.fixture(scope="session")
def tiny(tiny_folder: Path) -> HFModel:
    return load(tiny_folder, max_length=128)


@pytest.fixture(scope="session")
def tinybos(tinybos_folder: Path) -> HFModel:
    return load(tinybos_folder, max_length=128)


@pytest.fixture(scope="session")
def successor(tmp_path_factory: pytest.TempPathFactory) -> HFModel:
    """Counts up through the alphabet; "d" (id 5) ends a reply besides EOS."""
    return load(save_rigged(tmp_path_factory.mktemp("successor"), successor_logits(24), end_ids=[1, 5]))


@pytest.fixture(scope="session")
def uniform(tmp_path_factory: pytest.TempPathFactory) -> HFModel:
    """Eight letters, each as likely as the others: ln 8 nats per token."""
    return load(save_rigged(tmp_path_factory.mktemp("uniform"), uniform_logits(8)))


@pytest.fixture(scope="session")
def oracles(tiny_folder: Path, tinybos_folder: Path) -> dict[str, Any]:
    """The same models in lm-evaluation-harness, by the name of our fixture."""
    pytest.importorskip("lm_eval.models.huggingface", reason="needs the parity extra")
    from lm_eval.models.huggingface import HFLM

    options = {"device": "cpu", "dtype": "float32", "batch_size": 3, "max_length": 128}
    return {
        "tiny": HFLM(pretrained=str(tiny_folder), **options),
        "tinybos": HFLM(pretrained=str(tinybos_folder), **options),
    }
