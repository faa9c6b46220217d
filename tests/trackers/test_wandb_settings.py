from __future__ import annotations

import os
from pathlib import Path

import pytest

from hydra_eval.trackers.wandb_settings import SETTINGS, environment, requested_mode, run_settings


@pytest.mark.parametrize(
    ("mode", "variable", "resolved"),
    [
        ("auto", None, "auto"),
        ("auto", "offline", "offline"),
        ("auto", "dryrun", "offline"),
        ("auto", "online", "online"),
        ("auto", "disabled", "disabled"),
        ("offline", "online", "offline"),
        ("online", "offline", "online"),
        ("disabled", None, "disabled"),
    ],
)
def test_mode(mode: str, variable: str | None, resolved: str) -> None:
    assert requested_mode(mode, {} if variable is None else {"WANDB_MODE": variable}) == resolved


def test_settings_that_wandb_lacks_or_the_user_decides_are_left_out() -> None:
    settings = run_settings({"silent", "console", "x_disable_viewer"}, {"WANDB_CONSOLE": "wrap", "WANDB_X": "1"})
    assert settings == {name: SETTINGS[name] for name in ("silent", "x_disable_viewer")}


def test_waits_are_bounded() -> None:
    assert 0 < SETTINGS["init_timeout"] <= 30
    assert 0 < SETTINGS["finish_timeout"] <= 600
    assert SETTINGS["finish_timeout_raises"]


def test_environment_is_put_back_and_the_users_values_stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WANDB_DATA_DIR", raising=False)
    monkeypatch.setenv("WANDB_CACHE_DIR", "/elsewhere")
    before = dict(os.environ)
    with environment(tmp_path):
        assert Path(os.environ["WANDB_DATA_DIR"]) == tmp_path / "wandb"
        assert os.environ["WANDB_CACHE_DIR"] == "/elsewhere"
    assert dict(os.environ) == before


def test_environment_is_put_back_after_an_error(tmp_path: Path) -> None:
    before = dict(os.environ)
    with pytest.raises(OSError, match="oh"), environment(tmp_path):
        raise OSError("oh")
    assert dict(os.environ) == before
