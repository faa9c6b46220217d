"""Log-likelihoods of spans: which spans share a row, and what is read off a row's logits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from hydra_eval.models.encoding import Encoded, Ids, Span
from hydra_eval.records import Instance, InstanceKey, RequestKind, Response


class SpanScore(NamedTuple):
    """What the model thinks of a span's target."""

    logprobs: tuple[float, ...]
    is_greedy: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One sequence to run, and every target that is read off its end."""

    inputs: Ids
    targets: tuple[Ids, ...]
    key: InstanceKey
    """Of the first request that wants it."""

    @property
    def scored(self) -> int:
        """Positions at the end for which logits are needed."""
        return max(map(len, self.targets))


def share_rows(encoded: Iterable[tuple[InstanceKey, Encoded]]) -> list[Row]:
    """One row per distinct input: one-token choices of a document share it, and equal requests are one."""
    targets: dict[Ids, dict[Ids, None]] = {}
    keys: dict[Ids, InstanceKey] = {}
    for key, request in encoded:
        for span in request.spans:
            targets.setdefault(span.inputs, {})[span.target] = None
            keys.setdefault(span.inputs, key)
    return [Row(inputs=inputs, targets=tuple(wanted), key=keys[inputs]) for inputs, wanted in targets.items()]


def score_spans(
    slices: Iterable[Tensor], places: Mapping[Span, Tensor], dtype: torch.dtype | None
) -> dict[Span, SpanScore]:
    """Scores read off logits [n, vocabulary] that come in slices. `places`: where those of a span's target stand.

    The soft-max is taken in `dtype`, or in the logits' own where that is None.
    """
    at = torch.cat(list(places.values()))
    tokens = torch.tensor([token for span in places for token in span.target])
    logprobs = torch.zeros(len(tokens), dtype=torch.float64)
    best = torch.zeros(len(tokens), dtype=torch.bool)
    done = 0
    for logits in slices:
        here = (at >= done) & (at < done + len(logits))
        rows, wanted = (at[here] - done).to(logits.device), tokens[here].to(logits.device)
        scores = torch.log_softmax(logits, dim=-1, dtype=dtype)
        logprobs[here] = scores[rows, wanted].double().cpu()
        best[here] = (scores.argmax(dim=-1)[rows] == wanted).cpu()
        done += len(logits)
    lengths = [len(span.target) for span in places]
    parts = zip(places, torch.split(logprobs, lengths), torch.split(best, lengths), strict=True)
    return {span: SpanScore(tuple(values.tolist()), bool(greedy.all())) for span, values, greedy in parts}


def respond(instance: Instance, encoded: Encoded, scores: Mapping[Span, SpanScore], *, halvings: int = 0) -> Response:
    """The response to one request from the scores of its spans."""
    found = [scores[span] for span in encoded.spans]
    logprobs = tuple(value for score in found for value in score.logprobs)
    rolling, ids = instance.kind is RequestKind.ROLLING, encoded.ids
    return Response(
        key=instance.key,
        logprob=sum(logprobs, 0.0),
        token_logprobs=logprobs,
        is_greedy=None if rolling else all(score.is_greedy for score in found),
        input_tokens=len(ids) - encoded.scored,
        output_tokens=len(logprobs),
        cut_tokens=encoded.cut_tokens,
        input_ids=ids,
        halvings=halvings,
    )
