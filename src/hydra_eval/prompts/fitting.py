"""A prompt that is too long for the model's window: examples go, tokens go, the document goes, or it is an error.

All is decided in exact tokens before the model loads. Where the only policy is to cut, the model does it as it
tokenises, and nothing is tokenised here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple, TypeAlias

from hydra_eval.errors import UserError, counted
from hydra_eval.models.encoding import Encoder, Whole, measure
from hydra_eval.prompts.overflow import CUTS, DEFAULT, Overflow
from hydra_eval.records import Doc, Instance
from hydra_eval.tasks.task import Task

AT_ONCE = 1000
"""Documents whose ids are in memory at the same time: enough to keep a fast tokenizer's threads busy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One document with the examples that it shows, and everything that is asked about it."""

    doc: Doc
    shots: tuple[Doc, ...]
    requests: tuple[Instance, ...]
    """None where the document is left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long a request may be, and what is done about a longer one, first things first."""

    encoder: Encoder | None = None
    """Not needed where the only policy is to cut."""
    policies: tuple[str, ...] = DEFAULT


ONLY_CUT = Limits()


class Need(NamedTuple):
    """How one document's longest request compares with the window."""

    excess: int
    can_be_cut: bool


Fewer: TypeAlias = Callable[[Asked, int], Asked]
"""The document, asked with only so many of its examples."""
Outcome: TypeAlias = tuple[Asked, bool]
"""What a policy made of a document, and whether that settles it."""
Policy: TypeAlias = Callable[[Sequence[Asked], Fewer, Encoder], list[Outcome]]


def limits_of(overflow: str | Sequence[str], encoder: Encoder) -> Limits:
    """`prompt.overflow` as it is typed: one policy, or a list."""
    return Limits(encoder=encoder, policies=(overflow,) if isinstance(overflow, str) else tuple(overflow))


def fit(task: Task, asked: Sequence[Asked], limits: Limits, fewer: Fewer) -> tuple[list[Asked], Overflow]:
    """The task's documents as they are sent, without those that are skipped; and what became of the long ones.

    Each policy gets what the one before could not settle. Raises UserError where the last cannot either.
    """
    policies, encoder = limits.policies, limits.encoder
    if len(policies) == 1 and policies[0] in CUTS:
        return [_cut_at(CUTS[policies[0]], one) for one in asked], Overflow(policies=policies)
    assert encoder is not None, "these policies count tokens"
    found = list(asked)
    excesses = [need.excess for need in _needs(asked, encoder)]
    places = [place for place, excess in enumerate(excesses) if excess]
    for policy in policies:
        if policy == "error":
            break
        outcomes = POLICIES[policy]([found[place] for place in places], fewer, encoder)
        for place, (one, _) in zip(places, outcomes, strict=True):
            found[place] = one
        places = [place for place, (_, settled) in zip(places, outcomes, strict=True) if not settled]
    if places:
        raise _refusal(task, [found[place] for place in places], limits)
    return _kept(task, asked, found, encoder), replace(_overflow(asked, found, policies), excess=max(excesses))


def drop_shots(asked: Sequence[Asked], fewer: Fewer, encoder: Encoder) -> list[Outcome]:
    """The most examples with which everything asked about a document fits; found by halving, for all at once."""
    fitting: dict[int, Asked] = {}
    ranges = {place: (0, len(one.shots)) for place, one in enumerate(asked) if one.shots}
    while ranges:
        tried = {place: fewer(asked[place], (low + high) // 2) for place, (low, high) in ranges.items()}
        for (place, one), need in zip(tried.items(), _needs(list(tried.values()), encoder), strict=True):
            low, high = ranges.pop(place)
            count = (low + high) // 2
            if need.excess:
                high = count
            else:
                fitting[place], low = one, count + 1
            if low < high:
                ranges[place] = (low, high)
    return [
        (fitting[place], True) if place in fitting else (fewer(one, 0) if one.shots else one, False)
        for place, one in enumerate(asked)
    ]


def skip(asked: Sequence[Asked], fewer: Fewer, encoder: Encoder) -> list[Outcome]:
    return [(replace(one, requests=()), True) for one in asked]


def cut_left(asked: Sequence[Asked], fewer: Fewer, encoder: Encoder) -> list[Outcome]:
    return _cut_each("left", asked, encoder)


def cut_middle(asked: Sequence[Asked], fewer: Fewer, encoder: Encoder) -> list[Outcome]:
    return _cut_each("middle", asked, encoder)


POLICIES: dict[str, Policy] = {
    "drop_shots": drop_shots,
    "cut_left": cut_left,
    "cut_middle": cut_middle,
    "skip": skip,
}
"""What can be done; `error` is to do nothing."""


def _cut_each(side: str, asked: Sequence[Asked], encoder: Encoder) -> list[Outcome]:
    needs = _needs(asked, encoder)
    return [(_cut_at(side, one), need.can_be_cut) for one, need in zip(asked, needs, strict=True)]


def _cut_at(side: str, one: Asked) -> Asked:
    """Requests know where they may be cut; the model does it, and counts."""
    if all(request.cut == side for request in one.requests):
        return one
    return replace(one, requests=tuple(replace(request, cut=side) for request in one.requests))


def _needs(asked: Sequence[Asked], encoder: Encoder) -> list[Need]:
    needs: list[Need] = []
    for start in range(0, len(asked), AT_ONCE):
        some = asked[start : start + AT_ONCE]
        wholes = iter(measure([request for one in some for request in one.requests], encoder))
        needs += [_need(list(islice(wholes, len(one.requests)))) for one in some]
    return needs


def _need(wholes: Sequence[Whole]) -> Need:
    return Need(max(whole.excess for whole in wholes), all(whole.can_be_cut for whole in wholes))


def _kept(task: Task, asked: Sequence[Asked], found: Sequence[Asked], encoder: Encoder) -> list[Asked]:
    kept = [one for one in found if one.requests]
    if not kept:
        every = "the only document" if len(found) == 1 else f"all {len(found)} documents"
        raise UserError(
            f"{task.name}: prompt.overflow=skip leaves out {every}, because none fits into the "
            f"model's window of {encoder.max_length} tokens. {_ways_to_more_room(asked[0].requests)}"
        )
    return kept


def _overflow(asked: Sequence[Asked], found: Sequence[Asked], policies: Sequence[str]) -> Overflow:
    pairs = list(zip(asked, found, strict=True))
    return Overflow(
        policies=tuple(policies),
        dropped={
            one.doc.index: len(before.shots) - len(one.shots)
            for before, one in pairs
            if one.requests and len(one.shots) < len(before.shots)
        },
        skipped=tuple(one.doc.index for one in found if not one.requests),
    )


def _refusal(task: Task, too_long: Sequence[Asked], limits: Limits) -> UserError:
    """About the first of them."""
    one, encoder = too_long[0], limits.encoder
    assert encoder is not None
    wholes = measure(one.requests, encoder)
    request, whole = max(zip(one.requests, wholes, strict=True), key=lambda pair: pair[1].excess)
    with_shots = f" with its {counted(len(one.shots), 'example')}" if one.shots else ""
    if request.generation:
        beside = f", {request.generation.max_new_tokens} of which are kept for the reply"
    else:
        beside = f", together with the {len(whole.target)} of its continuation"
    more = f"; it is the first of {len(too_long)} such documents" if len(too_long) > 1 else ""
    return UserError(
        f"{task.name}, document {one.doc.index}, request {request.key.request}: the prompt has "
        f"{counted(len(whole.context), 'token')}{with_shots} and is {whole.excess} too long for the model's window of "
        f"{encoder.max_length}{beside}{more}. "
        f"{_advice(one, whole, limits.policies)} {_ways_to_more_room(one.requests)}"
    )


def _advice(one: Asked, whole: Whole, policies: Sequence[str]) -> str:
    if not whole.can_be_cut:
        return f"A continuation cannot be cut; prompt.overflow=[{','.join(policies)},skip] leaves the document out."
    if "drop_shots" in policies:
        return (
            "No example is left to drop: prompt.overflow=[drop_shots,cut_left] (or cut_middle) then cuts tokens, "
            "[drop_shots,skip] leaves the document out."
        )
    drop = "drop_shots (fewer examples), " if one.shots else ""
    return f"Other values of prompt.overflow: {drop}cut_left, cut_middle (fewer tokens), skip (leaves it out)."


def _ways_to_more_room(requests: Sequence[Instance]) -> str:
    replies = any(request.generation for request in requests)
    shorter = "Lower generation.max_new_tokens, or raise" if replies else "Raise"
    return f"{shorter} model.max_length if the model allows it."
