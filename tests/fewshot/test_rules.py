"""What holds for every strategy: no document is its own example, n of them, and nothing but its arguments counts."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hydra_eval.errors import UserError
from hydra_eval.fewshot import STRATEGIES, Picks
from hydra_eval.records import Doc

from ..toys import docs_of
from .builders import first_of_pool, numbered, picked, rows_of

NAMES = (*STRATEGIES, "mine:first_of_pool")
NATIVE = tuple(name for name in NAMES if name not in ("task", "lm_eval"))
FOR_EACH_ALONE = tuple(name for name in NATIVE if not name.startswith("random_sampling"))
"""Strategies whose picks depend on no other document, evaluated or not."""
LIGHTEVALS = ("task", "balanced", "random", "sequential", "random_sampling", "random_sampling_from_train")
DOCS = numbered(range(20))
CLASSES = numbered(range(100, 140), split="train")


def asking(strategy: str, **plan: Any) -> dict[str, Any]:
    """What the strategy needs beside its name."""
    own = (
        {"function": first_of_pool} if ":" in strategy else {"indices": (4, 2, 0, 1, 3)} if strategy == "fixed" else {}
    )
    return {"strategy": strategy, "class_field": "n" if strategy == "one_per_class" else None} | own | plan


@pytest.mark.parametrize("strategy", NAMES)
def test_a_limit_changes_no_prompt(strategy: str) -> None:
    whole, limited = (picked(DOCS, limit=limit, **asking(strategy, pool=DOCS, n=4)) for limit in (None, 3))
    assert limited.shots == (*whole.shots[:3], *[()] * 17)


@pytest.mark.parametrize("strategy", NAMES)
def test_a_task_alone_and_among_other_counts_of_shots_gets_the_same(strategy: str) -> None:
    alone, among = (picked(DOCS, name=name, **asking(strategy, pool=DOCS, n=4)) for name in ("toy", "toy|4"))
    assert among == alone


@pytest.mark.parametrize("strategy", NAMES)
def test_the_global_generators_are_left_alone(strategy: str) -> None:
    random.seed(5)
    np.random.seed(5)
    state, arrays = random.getstate(), np.random.get_state()
    first = picked(DOCS, **asking(strategy, pool=DOCS, n=4))
    assert random.getstate() == state
    assert all(np.array_equal(one, other) for one, other in zip(np.random.get_state(), arrays, strict=True))
    random.seed(6)
    np.random.seed(6)
    assert picked(DOCS, **asking(strategy, pool=DOCS, n=4)) == first


@pytest.mark.parametrize("strategy", NAMES)
def test_no_shots_ask_for_no_pool(strategy: str) -> None:
    assert picked(DOCS, **asking(strategy, pool=(), n=0)).shots == ((),) * 20


@pytest.mark.parametrize("strategy", NAMES)
@pytest.mark.parametrize("seed", range(0, 100, 7))
def test_three_documents_show_each_other_alone(strategy: str, seed: int) -> None:
    docs = numbered(range(3))
    picks = picked(docs, **asking(strategy, pool=docs, n=2, seed=seed) | {"indices": (0, 1, 2)})
    assert [sorted(row) for row in rows_of(picks)] == [[1, 2], [0, 2], [0, 1]]


@pytest.mark.parametrize("strategy", NAMES)
def test_three_documents_have_no_three_others(strategy: str) -> None:
    docs = numbered(range(3))
    with pytest.raises(UserError, match=r"'toy', document 0: 3 examples are asked for, but only 2 .*shortfall=allow"):
        picked(docs, **asking(strategy, pool=docs, n=3) | {"indices": (0, 1, 2)})


@pytest.mark.parametrize("strategy", NAMES)
def test_fewer_are_allowed_and_counted(strategy: str) -> None:
    docs = numbered(range(3))
    plan = asking(strategy, pool=docs, n=3) | {"indices": (0, 1, 2)}
    picks = picked(docs, shortfall="allow", **plan)
    assert [sorted(row) for row in rows_of(picks)] == [[1, 2], [0, 2], [0, 1]]
    assert picks.short == 3


@pytest.mark.parametrize("strategy", NAMES)
def test_a_document_shows_itself_where_leaks_are_allowed(strategy: str) -> None:
    docs = numbered(range(3))
    picks = picked(docs, on_leak="allow", **asking(strategy, pool=docs, n=3) | {"indices": (0, 1, 2)})
    assert [sorted(row) for row in rows_of(picks)] == [[0, 1, 2]] * 3
    assert (picks.replaced, picks.short) == (0, 0)


@pytest.mark.parametrize("strategy", NAMES)
@pytest.mark.parametrize("order", ["reversed", "shuffled"])
def test_the_order_moves_the_examples_and_picks_no_others(strategy: str, order: str) -> None:
    drawn, moved = (rows_of(picked(DOCS, order=one, **asking(strategy, pool=DOCS, n=5))) for one in ("drawn", order))
    assert moved != drawn
    if order == "reversed":
        assert moved == [row[::-1] for row in drawn]
    assert [sorted(row) for row in moved] == [sorted(row) for row in drawn]


def test_examples_are_shuffled_for_each_document() -> None:
    picks = picked(DOCS, strategy="first_n", pool=CLASSES, n=5, order="shuffled")
    assert len({tuple(row) for row in rows_of(picks)}) > 10


@pytest.mark.parametrize("strategy", FOR_EACH_ALONE)
def test_other_documents_and_their_order_have_no_part_in_it(strategy: str) -> None:
    def by_origin(docs: Sequence[Doc]) -> dict[Any, Any]:
        plan = asking(strategy, pool=DOCS, n=4)
        return dict(zip((doc.origin for doc in docs), rows_of(picked(tuple(docs), **plan)), strict=True))

    rows = [(place, DOCS[place].row) for place in (7, 3, 19, 0)]
    some = [Doc(task="toy", split="test", index=i, row=row, position=at) for i, (at, row) in enumerate(rows)]
    whole = by_origin(DOCS)
    assert by_origin(some) == {doc.origin: whole[doc.origin] for doc in some}


def test_the_hash_of_the_picks_is_of_what_is_shown() -> None:
    def digest(**plan: Any) -> str:
        return picked(DOCS, **{"strategy": "random", "pool": CLASSES, "n": 4, "seed": 1} | plan).digest

    assert digest() == digest()
    others = [digest(seed=2), digest(n=3), digest(order="reversed"), digest(strategy="first_n")]
    assert len({digest(), *others}) == 5


# --- over all pools ---

ROW = st.fixed_dictionaries({"n": st.integers(0, 5), "answer": st.sampled_from(["", "yes", "no"])})


def content(doc: Doc) -> tuple[Any, Any]:
    return doc.row["n"], doc.row["answer"]


def with_ids(rows: Sequence[dict[str, Any]], *, split: str) -> tuple[Doc, ...]:
    """Twins have equal texts and ids of their own."""
    return docs_of([{**row, "id": f"{split}{number}"} for number, row in enumerate(rows)], split=split)


@st.composite
def drawings(draw: Any) -> tuple[tuple[Doc, ...], dict[str, Any]]:
    docs = with_ids(draw(st.lists(ROW, min_size=1, max_size=8)), split="test")
    pool = docs if draw(st.booleans()) else with_ids(draw(st.lists(ROW, min_size=1, max_size=9)), split="train")
    strategy = draw(st.sampled_from(NAMES))
    plan = {
        "pool": pool,
        "n": draw(st.integers(1, 4)),
        "seed": draw(st.integers(0, 3)),
        "sampler": draw(st.sampled_from(["default", "first_n"])) if strategy == "task" else "default",
        "excludes_doc": draw(st.booleans()),
        "order": draw(st.sampled_from(["drawn", "reversed", "shuffled"])),
        "similarity": draw(st.sampled_from(["tfidf", "overlap"])),
    }
    own = {"indices": tuple(draw(st.permutations(range(len(pool)))))} if strategy == "fixed" else {}
    return docs, asking(strategy, **plan) | {"class_field": None} | own


def left(strategy: str, doc: Doc, pool: Sequence[Doc]) -> int:
    """Examples that can be had for one document."""
    others = [shot for shot in pool if shot.origin != doc.origin and content(shot) != content(doc)]
    return len({shot.row["answer"] for shot in others}) if strategy == "one_per_class" else len(others)


def check_no_leak(docs: Sequence[Doc], picks: Picks) -> None:
    for doc, shots in zip(docs, picks.shots, strict=True):
        assert len({shot.index for shot in shots}) == len(shots)
        assert all(shot.origin != doc.origin and content(shot) != content(doc) for shot in shots)


@settings(max_examples=400, deadline=None)
@given(drawing=drawings())
def test_never_the_document_itself_and_always_n(drawing: tuple[tuple[Doc, ...], dict[str, Any]]) -> None:
    docs, plan = drawing
    fewest = min(left(plan["strategy"], doc, plan["pool"]) for doc in docs)
    if fewest < plan["n"]:
        with pytest.raises(UserError, match=f"{plan['n']} examples? (is|are) asked for, but only"):
            picked(docs, **plan)
    picks = picked(docs, shortfall="allow", **plan)
    check_no_leak(docs, picks)
    counts = [min(plan["n"], left(plan["strategy"], doc, plan["pool"])) for doc in docs]
    assert [len(shots) for shots in picks.shots] == counts
    assert picks.short == sum(count < plan["n"] for count in counts)
    assert picked(docs, shortfall="allow", **plan) == picks


@settings(max_examples=200, deadline=None)
@given(drawing=drawings(), strategy=st.sampled_from(LIGHTEVALS))
def test_lightevals_picks_lose_their_leaks_alone(
    drawing: tuple[tuple[Doc, ...], dict[str, Any]], strategy: str
) -> None:
    docs, plan = drawing
    plan |= {"strategy": strategy, "compat": "lighteval", "shortfall": "allow", "order": "drawn"}
    allowed, picks = picked(docs, on_leak="allow", **plan), picked(docs, **plan)
    check_no_leak(docs, picks)
    for doc, before, after in zip(docs, allowed.shots, picks.shots, strict=True):
        if not any(shot.origin == doc.origin or content(shot) == content(doc) for shot in before):
            assert after == before
