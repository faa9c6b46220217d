from __future__ import annotations

import pytest

from hydra_eval.errors import UserError
from hydra_eval.filters.custom import custom


def complete(resps, docs):  # type: ignore[no-untyped-def]
    """A generator, as lm-eval's filters may be."""
    yield from ([doc["prompt"] + reply for reply in entry] for entry, doc in zip(resps, docs, strict=True))


def test_custom_sees_replies_and_documents() -> None:
    step = custom(filter_fn=complete)
    assert step((("x",), ("y", "z")), ({"prompt": "1"}, {"prompt": "2"})) == [["1x"], ["2y", "2z"]]


def test_custom_must_keep_the_number_of_entries() -> None:
    step = custom(filter_fn=lambda resps, docs: resps[:1])
    with pytest.raises(UserError, match="returned 1 entry for 2 requests"):
        step([["a"], ["b"]], [{}, {}])


def test_custom_wants_a_function() -> None:
    with pytest.raises(UserError, match=r"filter_fn='utils.f' must be a function"):
        custom(filter_fn="utils.f")  # type: ignore[arg-type]


def test_custom_must_return_entries() -> None:
    with pytest.raises(UserError, match="returned None"):
        custom(filter_fn=lambda resps, docs: None)([["a"]], [{}])
