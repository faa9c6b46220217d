"""Hydra as the program starts it, with a user's task folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import DictConfig

from hydra_eval.config.compose import register
from hydra_eval.config.task_folders import VARIABLE
from hydra_eval.resources import conf_folder

Compose = Callable[..., DictConfig]


@pytest.fixture
def composing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Compose]:
    """`composing(*overrides)`; task files that a test writes into `tmp_path / "mine"` are known."""
    (tmp_path / "mine").mkdir()
    monkeypatch.setenv(VARIABLE, str(tmp_path / "mine"))
    monkeypatch.setattr("sys.argv", ["run.py"])
    register()
    with initialize_config_dir(str(conf_folder()), version_base="1.3"):
        yield lambda *overrides: compose("config", overrides=list(overrides))
