"""Token sequences as one prefix tree, written out in one row: what several of them begin with stands there once.

Nodes come in depth-first order, so that the ancestors of a node are those before it whose subtree has not ended yet.
No torch.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hydra_eval.models.encoding import Ids

Numbers: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """All sequences of one forward pass; arrays [nodes]."""

    tokens: Numbers
    depths: Numbers
    """Places from the start of the sequence: the positions that the model is told."""
    ends: Numbers
    """One past the last node of each node's subtree."""
    paths: Mapping[Ids, Numbers]
    """Sequence → its nodes, first token first."""

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def is_chain(self) -> bool:
        """It has no branches: every node sees all nodes before it."""
        return int(self.depths[-1] - self.depths[0]) == len(self) - 1


@dataclass(frozen=True, slots=True)
class Branch:
    """A sequence and how much of it the one before it begins with as well."""

    ids: Ids
    tokens: Numbers
    shared: int

    @property
    def fresh(self) -> int:
        """Nodes of its own."""
        return len(self.tokens) - self.shared


def plan_trees(sequences: Iterable[Ids], *, start: int = 0, budget: int, most: int | None = None) -> Iterator[Tree]:
    """Trees of at most `budget` nodes and `most` sequences, over the distinct sequences in ascending order.

    A single sequence may exceed the budget; what several share of it, where that is much, counts for one of them. The
    first `start` tokens, the same in all, are left out: they have been run.
    """
    chosen: list[Branch] = []
    nodes = 0
    before: Numbers | None = None
    for ids in sorted(set(sequences)):
        tokens = np.asarray(ids, dtype=np.int64)
        branch = Branch(ids, tokens, start if before is None else shared_length(before, tokens))
        while chosen and (len(chosen) == most or nodes + branch.fresh > _room(branch.shared - start, budget)):
            first = _new_start([*chosen, branch], budget, most)
            yield plant(chosen[:first], start)
            rest = [*chosen[first:], branch]
            *chosen, branch = replace(rest[0], shared=start), *rest[1:]
            nodes = sum(one.fresh for one in chosen)
        chosen.append(branch)
        nodes += branch.fresh
        before = tokens
    if chosen:
        yield plant(chosen, start)


def _room(shared: int, budget: int) -> int:
    """Nodes of a tree that takes in a sequence: more than the budget where it would cost half of that to run again what
    the sequence shares."""
    return budget if shared <= budget // 2 else budget + shared


def _new_start(branches: Sequence[Branch], budget: int, most: int | None) -> int:
    """At which of the branches, too many for one tree, the next tree begins: where least has to be run again, among
    those that leave the first tree half full, and at the last of these."""
    filled = enumerate(accumulate(branch.fresh for branch in branches[:-1]), 1)
    halves = [place for place, nodes in filled if nodes >= budget / 2 or (most is not None and place >= most / 2)]
    return min([len(branches) - 1, *reversed(halves)], key=lambda place: branches[place].shared)


def plant(branches: Sequence[Branch], start: int) -> Tree:
    """The tree of sequences in ascending order, without their first `start` tokens."""
    total = sum(len(branch.tokens) - branch.shared for branch in branches)
    ends = np.full(total, total, dtype=np.int64)
    path = np.empty(0, dtype=np.int64)
    paths: dict[Ids, Numbers] = {}
    count = 0
    for branch in branches:
        kept = branch.shared - start
        ends[path[kept:]] = count
        fresh = np.arange(count, count + len(branch.tokens) - branch.shared)
        path = paths[branch.ids] = np.concatenate([path[:kept], fresh])
        count += len(fresh)
    return Tree(
        tokens=np.concatenate([branch.tokens[branch.shared :] for branch in branches]),
        depths=np.concatenate([np.arange(branch.shared, len(branch.tokens)) for branch in branches]),
        ends=ends,
        paths=paths,
    )


def shared_length(one: Numbers, other: Numbers) -> int:
    """Tokens that both begin with."""
    length = min(len(one), len(other))
    differs = np.nonzero(one[:length] != other[:length])[0]
    return int(differs[0]) if len(differs) else length


def common_start(sequences: Collection[Ids]) -> int:
    """Tokens that all begin with: those that the first and the last in order share."""
    first, last = (np.asarray(ids, dtype=np.int64) for ids in (min(sequences), max(sequences)))
    return shared_length(first, last)
