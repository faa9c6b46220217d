from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydra_eval.models.encoding import Ids
from hydra_eval.models.engine.tree import Tree, common_start, plan_trees
from hydra_eval.models.prefixes import unique_prefix_tokens

sequences = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=12).map(tuple), min_size=1, max_size=15)
budgets = st.integers(1, 40)


@given(sequences, budgets)
def test_every_sequence_has_a_path_that_spells_it(found: list[Ids], budget: int) -> None:
    trees = list(plan_trees(found, budget=budget))
    assert sorted(ids for tree in trees for ids in tree.paths) == sorted(set(found))
    for tree in trees:
        for ids, path in tree.paths.items():
            assert tuple(tree.tokens[path]) == ids and list(tree.depths[path]) == list(range(len(ids)))


@given(sequences)
def test_one_tree_holds_each_beginning_once(found: list[Ids]) -> None:
    (tree,) = plan_trees(found, budget=10**6)
    assert len(tree) == unique_prefix_tokens(found)


@given(sequences)
def test_ancestors_are_those_whose_subtree_has_not_ended(found: list[Ids]) -> None:
    (tree,) = plan_trees(found, budget=10**6)
    for path in tree.paths.values():
        last = path[-1]
        assert [node for node in range(last + 1) if tree.ends[node] > last] == list(path)


@given(sequences, budgets, st.integers(1, 4))
def test_trees_keep_budget_and_count(found: list[Ids], budget: int, most: int) -> None:
    for tree in plan_trees(found, budget=budget, most=most):
        assert len(tree.paths) <= most
        assert len(tree.paths) == 1 or len(tree) <= budget + max(shared(tree, over=budget // 2), default=0)


def shared(tree: Tree, *, over: int) -> list[int]:
    """Lengths of what neighbours begin with, where they exceed `over`."""
    lengths = [common_start(pair) for pair in pairwise(tree.paths)]
    return [length for length in lengths if length > over]


@pytest.mark.parametrize("context", [10, 20, 40, 200], ids=lambda context: f"context of {context}")
def test_a_long_context_is_run_once_for_all_its_choices(context: int) -> None:
    """Also where it fills the budget of 16 by itself."""
    found = [(*[5] * context, choice, 1) for choice in range(7)]
    assert [len(tree) for tree in plan_trees(found, budget=16)] == [context + 14]


def test_many_choices_after_a_long_context_keep_the_budget_beside_it() -> None:
    found = [(*[5] * 100, choice) for choice in range(40)]
    assert [len(tree) for tree in plan_trees(found, budget=16)] == [116, 116, 108]


def test_a_tree_ends_where_least_has_to_be_run_again() -> None:
    """After the second document, though two choices of the third would have found room."""
    found = [(*[doc] * 10, choice) for doc in (1, 2, 3) for choice in (1, 2, 3)]
    assert [len(tree.paths) for tree in plan_trees(found, budget=38)] == [6, 3]


def test_trees_are_at_least_half_full() -> None:
    found = [(1,), *((2, 3, doc, *[4] * 8) for doc in range(4))]
    assert [len(tree) for tree in plan_trees(found, budget=36)] == [1 + 11 + 9 + 9, 11]


@given(sequences, st.lists(st.integers(0, 2), max_size=5).map(tuple))
def test_what_has_been_run_is_left_out(found: list[Ids], start: Ids) -> None:
    (tree,) = plan_trees([start + ids for ids in found], start=len(start), budget=10**6)
    (alone,) = plan_trees(found, budget=10**6)
    assert list(tree.tokens) == list(alone.tokens) and list(tree.depths) == list(alone.depths + len(start))


def test_a_chain_has_no_branches() -> None:
    assert tree_of((1, 2, 3)).is_chain and tree_of((1, 2, 3), (1, 2)).is_chain
    assert not tree_of((1, 2, 3), (1, 3)).is_chain and not tree_of((1, 2), (3,)).is_chain


def test_common_start() -> None:
    assert common_start([(1, 2, 3), (1, 2, 4), (1, 2)]) == 2
    assert common_start([(1, 2)]) == 2 and common_start([(1,), (2,)]) == 0


def tree_of(*found: Ids) -> Tree:
    (tree,) = plan_trees(found, budget=100)
    return tree
