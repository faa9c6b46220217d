"""How many tokens a set of sequences has where a common beginning is counted once: the floor of what must be run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from heapq import merge
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

WIDTH = 4
"""Bytes of one id: no vocabulary has more than four thousand million."""

Folded: TypeAlias = list[tuple[int, bytes]]
"""Packed sequences in order: how many bytes each begins with that the one before it has too, and the rest."""


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


def fold(sequences: Iterable[Sequence[int]]) -> Folded:
    """Many sequences that begin alike, in little more memory than their prefix tree has."""
    folded: Folded = []
    before = b""
    for sequence in sorted({packed(ids) for ids in sequences}):
        shared = _common(before, sequence) * WIDTH
        folded.append((shared, sequence[shared:]))
        before = sequence
    return folded


def folded_prefix_tokens(parts: Iterable[Folded]) -> int:
    """`unique_prefix_tokens` of all sequences together, without having more than a few of them unfolded at a time."""
    total = 0
    before = b""
    for sequence in merge(*map(_unfolded, parts)):
        total += len(sequence) // WIDTH - _common(before, sequence)
        before = sequence
    return total


def _unfolded(folded: Folded) -> Iterator[bytes]:
    sequence = b""
    for shared, rest in folded:
        sequence = sequence[:shared] + rest
        yield sequence


def _common(first: bytes, second: bytes) -> int:
    """Ids of the common beginning."""
    differ: npt.NDArray[np.bool_] = _ids(first, second) != _ids(second, first)
    return int(differ.argmax()) if differ.any() else len(differ)


def _ids(sequence: bytes, other: bytes) -> npt.NDArray[np.uint32]:
    """The ids of one, as many as both have."""
    return np.frombuffer(sequence, dtype=np.uint32, count=min(len(sequence), len(other)) // WIDTH)
