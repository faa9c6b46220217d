from __future__ import annotations

from pathlib import Path

import pytest

from hydra_eval import resources


def test_the_config_groups_and_the_shelf_are_there() -> None:
    assert (resources.conf_folder() / "config.yaml").is_file()
    assert list(resources.shelf_folder().rglob("*.yaml"))


def test_an_installed_package_carries_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("conf", "tasks_shelf"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(resources, "PACKAGE", tmp_path)
    assert (resources.conf_folder(), resources.shelf_folder()) == (tmp_path / "conf", tmp_path / "tasks_shelf")


def test_a_package_without_its_files_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "PACKAGE", tmp_path)
    monkeypatch.setattr(resources, "CHECKOUT", tmp_path)
    with pytest.raises(FileNotFoundError, match=r"not installed completely: none of .*tasks_shelf.*tasks"):
        resources.shelf_folder()
