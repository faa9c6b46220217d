from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydra_eval.models.prefixes import (
    fold,
    folded_prefix_tokens,
    packed,
    packed_prefix_tokens,
    path_of,
    unique_prefix_tokens,
)

ids = st.lists(st.integers(min_value=0, max_value=3) | st.integers(min_value=0, max_value=2**32 - 1), max_size=6)


@pytest.mark.parametrize(
    ("sequences", "expected"),
    [
        ([], 0),
        ([[]], 0),
        ([[5, 6, 7]], 3),
        ([[5, 6, 7], [5, 6, 7]], 3),
        ([[5, 6, 7], [5, 6], [5]], 3),
        ([[5, 6, 7], [5, 6, 8], [5, 9]], 5),
        ([[1, 2], [3, 2]], 4),
        ([[256, 1], [256, 2], [1, 2]], 5),
        ([[2**31, 2**32 - 1], [2**31]], 2),
    ],
    ids=["none", "an empty one", "one", "twice", "nested", "branches", "same ends", "bytes in common", "large ids"],
)
def test_common_beginnings_count_once(sequences: list[list[int]], expected: int) -> None:
    assert unique_prefix_tokens(sequences) == expected


@given(st.lists(ids, max_size=12))
def test_it_is_the_number_of_distinct_beginnings(sequences: list[list[int]]) -> None:
    beginnings = {tuple(ids[:end]) for ids in sequences for end in range(1, len(ids) + 1)}
    assert unique_prefix_tokens(sequences) == len(beginnings)


@given(st.lists(ids, max_size=8))
def test_packed_sequences_count_alike_in_any_order_and_number(sequences: list[list[int]]) -> None:
    together = [packed(ids) for ids in sequences]
    assert packed_prefix_tokens([*reversed(together), *together]) == unique_prefix_tokens(sequences)


@given(st.lists(st.lists(ids, max_size=6), max_size=5))
def test_folded_parts_count_as_all_their_sequences(parts: list[list[list[int]]]) -> None:
    together = [sequence for part in parts for sequence in part]
    assert folded_prefix_tokens(map(fold, parts)) == unique_prefix_tokens(together)


def test_folding_keeps_what_is_new_alone() -> None:
    start = tuple(range(1000))
    folded = fold([(*start, 1), (*start, 2), (*start, 3)])
    assert sum(len(rest) for _, rest in folded) == 4 * (1000 + 3)


@pytest.mark.parametrize(
    ("pairs", "causal", "apart"),
    [
        ([((1, 2, 3), (4, 5)), ((1, 2, 3), (6, 7))], 5, 6),
        ([((1, 2, 3), (4, 5)), ((1, 2, 3), (4, 7))], 4, 5),
        ([((1, 2, 3), (4,)), ((1, 2, 5), (4,))], 4, 8),
    ],
    ids=["one context", "targets that begin alike", "contexts that begin alike"],
)
def test_an_encoder_shares_whole_contexts_only(
    pairs: list[tuple[tuple[int, ...], tuple[int, ...]]], causal: int, apart: int
) -> None:
    assert unique_prefix_tokens(path_of(*pair, apart=False) for pair in pairs) == causal
    assert unique_prefix_tokens(path_of(*pair, apart=True) for pair in pairs) == apart
