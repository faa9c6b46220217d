"""Set before torch is imported anywhere: test workers share the cores instead of spinning for each other's."""

from __future__ import annotations

import os
from importlib.metadata import PackageNotFoundError, version

import pytest

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Where lm-eval is not installed our stand-in may answer for it, and must not be compared with itself."""
    if item.get_closest_marker("parity") is not None:
        try:
            version("lm_eval")
        except PackageNotFoundError:
            pytest.skip("needs lm-evaluation-harness (extra: parity)")
