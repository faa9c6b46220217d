"""Which requests share a forward pass: a pure function of the requests, never of rank or world size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

MOST_FLIGHTS = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How much one forward pass may hold."""

    tokens: int
    """Padded length times rows, or nodes of a tree; a single row may exceed it."""
    rows: int | None = None
    cached_tokens: int | None = None
    """Tokens whose keys and values fit into memory while replies are made; None: any number."""
    most_flights: int = MOST_FLIGHTS
    """Replies that are made at once where `rows` does not say."""
    together: int | None = None
    """Longest sequence that may share a forward pass with others; None: any may."""

    def lets_share(self, length: int) -> bool:
        """Whether a sequence of so many tokens may share a forward pass."""
        return self.together is None or length <= self.together

    def flights(self, longest: int) -> int:
        """Replies that can be made at once where prompt and reply have up to `longest` tokens."""
        if self.rows is not None:
            return self.rows
        fitting = self.most_flights if self.cached_tokens is None else self.cached_tokens // longest
        return max(1, min(self.most_flights, fitting))


def plan_batches(
    sequences: Sequence[tuple[int, ...]], keys: Sequence[Any], budget: Budget, *, room: int = 0
) -> list[list[int]]:
    """Indices into `sequences`, longest first, cut into batches that keep the budget.

    `keys` decide the order of equal sequences; `room` is the number of tokens that each row will grow by.
    """
    order = sorted(range(len(sequences)), key=lambda i: (-len(sequences[i]), sequences[i], keys[i]))
    batches: list[list[int]] = []
    for index in order:
        # The first row of a batch is its longest: it sets the padded length of all.
        if batches and _fits(len(batches[-1]) + 1, len(sequences[batches[-1][0]]) + room, budget):
            batches[-1].append(index)
        else:
            batches.append([index])
    return batches


def _fits(rows: int, padded_length: int, budget: Budget) -> bool:
    has_room = rows * padded_length <= budget.tokens and (budget.rows is None or rows <= budget.rows)
    return has_room and budget.lets_share(padded_length)
