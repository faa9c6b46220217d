"""Asks a sample of a rank's requests again, and compares."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from hydra_eval.config.schema import CheckConfig
from hydra_eval.errors import OutOfMemory
from hydra_eval.models.base import Model
from hydra_eval.models.efficiency import Efficiency, added_up, efficiency_figures
from hydra_eval.numerics.compare import Checked, Tokenize, Twice, compare
from hydra_eval.numerics.figures import figures
from hydra_eval.numerics.sample import Sample, Wanted, document_of
from hydra_eval.records import DocKey, Instance, Packet, RequestKind, Response

Counting: TypeAlias = Callable[[str, int], AbstractContextManager[Callable[[], None]]]
"""`(what, how many) -> what moves a bar on by one`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rechecked:
    """What one rank found."""

    checked: Sequence[Checked] = ()
    dtype: str | None = None
    """Of the weights the second time; None: nothing was asked here."""
    why: str | None = None
    """Why that is not float32."""
    efficiency: Mapping[str, Efficiency] = field(default_factory=dict)


def recheck(
    sample: Sample,
    model: Model,
    answered: Iterable[tuple[Instance, Response]],
    *,
    tokenize: Tokenize,
    counting: Counting,
) -> Rechecked:
    """`answered` is all that this rank was asked. What takes too much memory in float32 is left out by document."""
    again: dict[tuple[DocKey, RequestKind], list[tuple[Instance, Response]]] = {}
    for instance, response in sorted(answered, key=lambda pair: pair[0].key):
        if sample.asks(instance):
            again.setdefault((document_of(instance), instance.kind), []).append((instance, response))
    if not again:
        return Rechecked()
    checked: list[Checked] = []
    with model.one_by_one() as reference, counting("requests again", sum(map(len, again.values()))) as advance:
        for (key, kind), pairs in again.items():
            alone = [_ask(reference.model, instance, advance) for instance, _ in pairs]
            twice = [Twice(run, answer) for (_, run), answer in zip(pairs, alone, strict=True) if answer is not None]
            if len(twice) == len(pairs):
                checked.append(compare(sample.tasks[key.task], sample.docs[key], kind, twice, tokenize))
    return Rechecked(checked=checked, dtype=reference.dtype, why=reference.why, efficiency=reference.model.efficiency)


def numerics_content(
    per_rank: Sequence[Rechecked], wanted: Mapping[str, Wanted], *, check: CheckConfig, seed: int
) -> dict[str, Any]:
    """What the results file says of all ranks' findings."""
    found = [rank for rank in per_rank if rank.dtype is not None]
    return {
        "dtype": ", ".join(sorted({str(rank.dtype) for rank in found})) or None,
        "why": "; ".join(sorted({rank.why for rank in found if rank.why})) or None,
        "most_documents": check.documents,
        "seed": seed,
        "near_tie": check.near_tie,
        "most_drift": check.most_drift,
        **figures((one for rank in found for one in rank.checked), wanted, near_tie=check.near_tie),
        "efficiency": efficiency_figures(added_up(rank.efficiency for rank in found)),
    }


def _ask(model: Model, instance: Instance, advance: Callable[[], None]) -> Response | None:
    """None where memory ran out."""
    packet = Packet(index=0, kind=instance.kind, instances=(instance,), cost=0)
    answer = model.generate if instance.kind is RequestKind.GENERATE else model.loglikelihood
    try:
        (found,) = answer(packet)
    except OutOfMemory:
        return None
    finally:
        advance()
    return found
