"""Data sets are prepared in a folder of the test session, not in the user's cache."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ..toys import data_sets_prepared_in


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with data_sets_prepared_in(tmp_path_factory.mktemp("datasets")):
        yield
