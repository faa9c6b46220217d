"""No test here leaves this machine, and data sets are prepared in a folder of the test session."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from ..toys import data_sets_prepared_in


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with data_sets_prepared_in(tmp_path_factory.mktemp("datasets")):
        yield


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any, **options: Any) -> None:
        raise AssertionError(f"the network was asked: {arguments}")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
