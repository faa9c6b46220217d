"""What every program is asked once before its time counts: a few short texts that no task holds."""

from __future__ import annotations

CONTEXTS = (
    "In the morning the lamps of the harbour go out one by one, and the gulls",
    "A clock without hands still ticks; whoever listens",
    "Seven boxes stood on the shelf, and each of them was",
    "The shortest way over the hill is not",
)
CONTINUATION = " as quiet as before"
REPLY = 4
"""Tokens."""
STOP = "\n\n"
