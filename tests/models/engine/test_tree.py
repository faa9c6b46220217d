from __future__ import annotations

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
        assert len(tree.paths) == 1 or (len(tree) <= budget and len(tree.paths) <= most)


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
