"""Trees give what each sequence gives by itself, on random sets of requests."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hydra_eval.models.efficiency import Efficiency
from hydra_eval.models.encoding import Encoded, Ids, Span, rolling_windows
from hydra_eval.models.engine import trunk as trunk_module
from hydra_eval.models.likelihood import Row, share_rows
from hydra_eval.models.prefixes import unique_prefix_tokens
from hydra_eval.records import InstanceKey

from .families import EXACT, VOCABULARY, plain_engine, tree_engine

ids = st.integers(1, VOCABULARY - 1)
few = st.integers(1, 2)
"""Two ids only: sequences then share beginnings of every length."""
WINDOW = 24
"""Tokens of the whole model here: contexts are cut to it."""


@st.composite
def request_sets(draw: st.DrawFn) -> tuple[Ids, list[Row]]:
    """(what most begin with, rows): contexts of all lengths, cut where too long, continuations that begin others."""
    start = tuple(draw(st.lists(ids, max_size=12)))
    spans = []
    for tail in draw(st.lists(st.lists(few, max_size=30), min_size=1, max_size=6)):
        context = (*start, *tail) or (1,)
        for target in draw(st.lists(st.lists(few | ids, min_size=1, max_size=5).map(tuple), min_size=1, max_size=4)):
            for scored in (target, target[:1]):
                kept = context[-(WINDOW + 1 - len(scored)) :]
                spans.append(Span((*kept, *scored)[:-1], scored))
    text = draw(st.lists(few, max_size=60))
    spans += rolling_windows(text, prefix_id=1, max_length=WINDOW)
    return start, rows_of(spans)


def rows_of(spans: Any) -> list[Row]:
    return share_rows((InstanceKey("t", at, 0, 0), Encoded((span,))) for at, span in enumerate(spans))


@pytest.mark.parametrize("name", EXACT)
@settings(max_examples=25, deadline=None, derandomize=True)
@given(asked=request_sets(), tokens=st.sampled_from([1, 30, 400]), rows=st.sampled_from([None, 2]))
def test_trees_score_as_the_plain_engine(
    name: str, asked: tuple[Ids, list[Row]], tokens: int, rows: int | None
) -> None:
    start, wanted = asked
    ours = tree_engine(name, tokens=tokens, rows=rows).score(wanted, start, Efficiency())
    theirs = plain_engine(name).score(wanted, (), Efficiency())
    assert ours.keys() == theirs.keys()
    for span, score in theirs.items():
        total = sum(score.logprobs)
        assert abs(sum(ours[span].logprobs) - total) <= max(1e-4, 2e-6 * abs(total))
        assert ours[span].is_greedy == score.is_greedy


@pytest.mark.parametrize("name", EXACT)
def test_a_long_common_start_is_run_by_itself(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trunk_module, "LONG_START", 8)
    start = tuple(range(1, 21))
    rows = rows_of(Span((*start, *tail)[:-1], tail) for tail in ((3, 4), (3, 5, 6), (7,)))
    lengths: list[int] = []
    engine = tree_engine(name)
    hook = engine.trunk.model.get_input_embeddings().register_forward_hook(
        lambda _, inputs, __: lengths.append(inputs[0].numel())
    )
    ours = engine.score(rows, (), Efficiency())
    hook.remove()
    theirs = plain_engine(name).score(rows, (), Efficiency())
    assert max(lengths) >= 17 and len(lengths) == 2
    assert all(abs(sum(ours[span].logprobs) - sum(theirs[span].logprobs)) < 1e-4 for span in theirs)


@pytest.mark.parametrize("name", EXACT)
def test_a_long_start_goes_on_behind_the_prefix(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In parts of at most eight tokens, and nothing of the prefix again."""
    monkeypatch.setattr(trunk_module, "LONG_START", 8)
    start = tuple(range(1, 31))
    rows = rows_of(Span((*start, *tail)[:-1], tail) for tail in ((3, 4), (3, 5, 6), (7,)))
    lengths: list[int] = []
    engine = tree_engine(name)
    hook = engine.trunk.model.get_input_embeddings().register_forward_hook(
        lambda _, inputs, __: lengths.append(inputs[0].numel())
    )
    ours = engine.score(rows, start[:9], Efficiency())
    hook.remove()
    theirs = plain_engine(name).score(rows, (), Efficiency())
    assert lengths[:3] == [9, 8, 8] and sum(lengths) == unique_prefix_tokens(row.inputs for row in rows)
    assert all(abs(sum(ours[span].logprobs) - sum(theirs[span].logprobs)) < 1e-4 for span in theirs)


def test_each_beginning_is_run_once() -> None:
    start = tuple(range(1, 41))
    rows = rows_of(Span((*start, *tail)[:-1], tail) for tail in ((3, 4), (3, 5, 6), (7,), (3, 5, 6)))
    engine, seen = tree_engine("llama"), []
    hook = engine.trunk.model.get_input_embeddings().register_forward_hook(
        lambda _, __, made: seen.append(made[..., 0].numel())
    )
    engine.score(rows[:2], start[:35], Efficiency())
    engine.score(rows[2:], start[:35], Efficiency())
    hook.remove()
    # The packets' start once, the rest once per packet.
    assert sum(seen) == 35 + sum(unique_prefix_tokens(row.inputs[35:] for row in part) for part in (rows[:2], rows[2:]))


def test_order_of_packets_changes_no_bit() -> None:
    start = tuple(range(1, 41))
    rows = [rows_of([Span((*start, at, 5), (5, 6))]) for at in range(1, 5)]
    forward, backward = tree_engine("gemma3"), tree_engine("gemma3")
    ahead = [forward.score(part, start, Efficiency()) for part in rows]
    assert ahead == [backward.score(part, start, Efficiency()) for part in rows[::-1]][::-1]
