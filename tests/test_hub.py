from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hydra_eval.hub import cached_commit, is_reachable


@pytest.fixture
def server() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"127.0.0.1:{listening.getsockname()[1]}"


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def test_server_that_listens(server: str) -> None:
    assert is_reachable(f"http://{server}")


def test_port_that_nobody_listens_on(server: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    assert not is_reachable(f"http://127.0.0.1:{port}")


def test_proxy_is_asked_in_place_of_the_host(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", f"http://{server}")
    assert is_reachable("https://host.invalid")
    monkeypatch.setenv("no_proxy", "host.invalid")
    assert not is_reachable("https://host.invalid")


def test_stalled_name_lookup_keeps_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: time.sleep(20))
    start = time.monotonic()
    assert not is_reachable("https://host.invalid", seconds=0.2)
    assert time.monotonic() - start < 2


OFFLINE = """
from huggingface_hub import constants, is_offline_mode
import datasets
from hydra_eval.hub import go_offline_if_unreachable
print(is_offline_mode(), go_offline_if_unreachable(), is_offline_mode(), datasets.config.HF_HUB_OFFLINE)
"""


@pytest.mark.parametrize(("reachable", "printed"), [(True, "False False False False"), (False, "False True True True")])
def test_libraries_go_offline_only_where_nothing_answers(reachable: bool, printed: str, server: str) -> None:
    endpoint = f"http://{server}" if reachable else "http://127.0.0.1:9"
    environment = {**os.environ, "HF_ENDPOINT": endpoint, "HF_HUB_OFFLINE": "0"}
    done = subprocess.run([sys.executable, "-c", OFFLINE], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == printed.split()


@pytest.mark.parametrize(("file", "known"), [("config.json", True), ("adapter_config.json", False)])
def test_the_commit_that_the_cache_holds(
    file: str, known: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = "0123456789abcdef0123456789abcdef01234567"
    repository = tmp_path / "models--org--name"
    for place, content in {f"snapshots/{commit}/config.json": "{}", "refs/main": commit}.items():
        (repository / place).parent.mkdir(parents=True)
        (repository / place).write_text(content, encoding="utf-8")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    assert cached_commit("org/name", file, None) == (commit if known else None)
    assert cached_commit("org/other", file, "main") is None
