from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from hydra_eval.models.batching import Budget, plan_batches

sequences = st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=30).map(tuple), max_size=40)
budgets = st.builds(Budget, tokens=st.integers(1, 200), rows=st.none() | st.integers(1, 9))


@given(sequences, budgets, st.integers(0, 20))
def test_every_sequence_is_in_one_batch(found: list[tuple[int, ...]], budget: Budget, room: int) -> None:
    batches = plan_batches(found, range(len(found)), budget, room=room)
    assert sorted(index for batch in batches for index in batch) == list(range(len(found)))


@given(sequences, budgets, st.integers(0, 20))
def test_batches_keep_the_budget(found: list[tuple[int, ...]], budget: Budget, room: int) -> None:
    for batch in plan_batches(found, range(len(found)), budget, room=room):
        padded = max(len(found[index]) for index in batch) + room
        assert len(batch) == 1 or (len(batch) * padded <= budget.tokens and len(batch) <= (budget.rows or len(batch)))


@given(sequences, budgets, st.integers(1, 30), st.integers(0, 20))
def test_what_may_not_share_is_alone(found: list[tuple[int, ...]], budget: Budget, most: int, room: int) -> None:
    for batch in plan_batches(found, range(len(found)), replace(budget, together=most), room=room):
        assert len(batch) == 1 or max(len(found[index]) for index in batch) + room <= most


@given(sequences, budgets, st.randoms())
def test_order_of_requests_changes_nothing(found: list[tuple[int, ...]], budget: Budget, random: object) -> None:
    shuffled = list(range(len(found)))
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    straight = plan_batches(found, range(len(found)), budget)
    again = plan_batches([found[index] for index in shuffled], shuffled, budget)
    assert [[shuffled[index] for index in batch] for batch in again] == straight


def test_longest_first_then_by_ids_then_by_key() -> None:
    found = [(3, 1), (2, 9), (7,), (2, 9), (1, 1, 1)]
    assert plan_batches(found, ["a", "z", "c", "b", "e"], Budget(tokens=1)) == [[4], [3], [1], [0], [2]]
