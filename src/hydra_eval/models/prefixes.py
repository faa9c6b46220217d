"""How many tokens a set of sequences has where a common beginning is counted once: the floor of what must be run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

WIDTH = 4
"""Bytes of one id: no vocabulary has more than four thousand million."""


def unique_prefix_tokens(sequences: Iterable[Sequence[int]]) -> int:
    """Distinct non-empty beginnings over all sequences: the tokens of their prefix tree.

    Of sequences in order each adds what it has beyond its common beginning with the one before.
    """
    return packed_prefix_tokens({packed(ids) for ids in sequences})


def packed(ids: Sequence[int]) -> bytes:
    """The ids in a ninth of the memory, and in a form that sorts at once."""
    return np.asarray(ids, dtype=np.int64).astype(np.uint32).tobytes()


def packed_prefix_tokens(sequences: Collection[bytes]) -> int:
    """`unique_prefix_tokens` of sequences that are `packed`. Any order will do in which common beginnings stand
    together, so the bytes need not sort as the ids would."""
    ordered = sorted(sequences)
    total = sum(map(len, ordered)) // WIDTH
    return total - sum(_common(first, second) for first, second in pairwise(ordered))


def _common(first: bytes, second: bytes) -> int:
    """Ids of the common beginning."""
    differ: npt.NDArray[np.bool_] = _ids(first, second) != _ids(second, first)
    return int(differ.argmax()) if differ.any() else len(differ)


def _ids(sequence: bytes, other: bytes) -> npt.NDArray[np.uint32]:
    """The ids of one, as many as both have."""
    return np.frombuffer(sequence, dtype=np.uint32, count=min(len(sequence), len(other)) // WIDTH)
