"""`lighteval.utils.imports`: what else a task file needs."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def is_package_available(package: str) -> bool:
    return importlib.util.find_spec(package.replace("-", "_")) is not None


def requires(*packages: str) -> Callable[[T], T]:
    """A decorator that says what its function needs. Here the function's own import tells."""
    return lambda decorated: decorated
