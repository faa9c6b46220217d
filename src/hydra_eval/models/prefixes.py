"""How many tokens a set of sequences has where a common beginning is counted once: the floor of what must be run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from heapq import merge
from itertools import pairwise
from typing import TypeAlias
from zlib import crc32

import numpy as np

WIDTH = 4
"""Bytes of one id: no vocabulary has more than four thousand million."""
DECODER_START = 0
"""Stands for the token that a decoder starts with, whichever it is."""

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


def path_of(context: Sequence[int], target: Sequence[int], *, apart: bool) -> tuple[int, ...]:
    """The positions to run for a target after its context; its last id is predicted and never run.

    `apart`: by an encoder and a decoder. An encoder's tokens see those after them, so contexts that only begin alike
    share nothing: a mark of the whole context stands in place of its first id.
    """
    if not apart:
        return (*context, *target[:-1])
    return (crc32(packed(context)), *context[1:], DECODER_START, *target[:-1])


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
    length = min(len(first), len(second)) // WIDTH
    if not length:
        return 0
    differ = np.frombuffer(first, np.uint32, length) != np.frombuffer(second, np.uint32, length)
    place = int(differ.argmax())
    return place if differ[place] else length
