"""Filters that choose among the replies to one request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from hydra_eval.errors import UserError, counted
from hydra_eval.filters.base import Filter
from hydra_eval.filters.replies import as_replies


def take_first() -> Filter:
    """Keep the first reply, as a value; a value chosen before stays as it is."""

    def step(resps: Sequence[Any], docs: Sequence[Mapping[str, Any]]) -> list[Any]:
        return [as_replies(entry)[0] for entry in resps]

    return step


def take_last() -> Filter:
    """Keep the last reply, as a value; a value chosen before stays as it is."""

    def step(resps: Sequence[Any], docs: Sequence[Mapping[str, Any]]) -> list[Any]:
        return [as_replies(entry)[-1] for entry in resps]

    return step


def keep_all() -> Filter:
    """Keep every reply, as a list: for metrics over several."""

    def step(resps: Sequence[Any], docs: Sequence[Mapping[str, Any]]) -> list[Any]:
        return [as_replies(entry) for entry in resps]

    return step


def take_first_k(*, k: int) -> Filter:
    """Keep the first `k` replies; fewer than that is an error."""
    if not isinstance(k, int) or isinstance(k, bool) or k < 1:
        raise UserError(f"k={k!r} must be a whole number, 1 or more")

    def step(resps: Sequence[Any], docs: Sequence[Mapping[str, Any]]) -> list[Any]:
        return [_first(as_replies(entry), k) for entry in resps]

    return step


def majority_vote() -> Filter:
    """Keep the most frequent reply, as a list of one; of equally frequent ones the one that came first."""

    def step(resps: Sequence[Any], docs: Sequence[Mapping[str, Any]]) -> list[Any]:
        return [[Counter(as_replies(entry)).most_common(1)[0][0]] for entry in resps]

    return step


def _first(replies: list[Any], k: int) -> list[Any]:
    if len(replies) < k:
        raise UserError(
            f"filter 'take_first_k': k={k}, but a request has {counted(len(replies), 'reply', 'replies')}. "
            f"Ask for more with generation.n={k} or the task's repeats, or lower k."
        )
    return replies[:k]
