"""Where the local data sets are, if they are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

os.environ.setdefault("HF_UPDATE_DOWNLOAD_COUNTS", "0")  # read when `datasets` is imported; it reports even local files

REPOSITORY = Path(__file__).resolve().parents[2]
DATA = REPOSITORY.parent / "shared" / "data"


@pytest.fixture(scope="session")
def data_root() -> Path:
    if not DATA.is_dir():
        pytest.skip("needs ../shared/data: real data sets in the hub's layout")
    return DATA
