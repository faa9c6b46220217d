"""Which kernel a loaded model attends by."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def attending_by(model: Any, kernel: str) -> Iterator[None]:
    """By another kernel for a while: layers look into the config at each pass."""
    config = model.config.get_text_config()
    own = config._attn_implementation
    config._attn_implementation = kernel
    try:
        yield
    finally:
        config._attn_implementation = own
