"""What `datasets` prepares for these tests stays out of the user's cache, as in tests/tasks."""

from __future__ import annotations

from ..tasks.conftest import cache

__all__ = ["cache"]
