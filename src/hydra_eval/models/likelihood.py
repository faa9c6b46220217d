"""Log-likelihoods of spans: which spans share a row, and what a batch of rows scores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from hydra_eval.models.encoding import Encoded, Ids, Span
from hydra_eval.models.head import LogitSlices
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


def score_rows(
    rows: Sequence[Row], logit_slices: LogitSlices, *, device: torch.device, dtype: torch.dtype | None
) -> dict[Span, SpanScore]:
    """Run one batch. The soft-max is taken in `dtype`, or in the logits' own where that is None."""
    ids, chosen = pad_right(rows)
    positions, tokens = _places(rows)
    logprobs = torch.zeros(len(tokens), dtype=torch.float64)
    best = torch.zeros(len(tokens), dtype=torch.bool)
    done = 0
    for logits in logit_slices(ids.to(device), chosen.to(device)):
        scores = torch.log_softmax(logits, dim=-1, dtype=dtype)
        here = (positions >= done) & (positions < done + len(scores))
        at, wanted = (positions[here] - done).to(scores.device), tokens[here].to(scores.device)
        logprobs[here] = scores[at, wanted].double().cpu()
        best[here] = (scores.argmax(dim=-1)[at] == wanted).cpu()
        done += len(scores)
    return _by_span(rows, logprobs.tolist(), best.tolist())


def pad_right(rows: Sequence[Row]) -> tuple[Tensor, Tensor]:
    """Ids [rows, length], and which positions need logits [rows, length].

    Padding is to the right and unmasked: in a causal model nothing before it can see it, and attention without a mask
    takes the faster kernels.
    """
    length = max(len(row.inputs) for row in rows)
    ids = torch.zeros(len(rows), length, dtype=torch.long)
    chosen = torch.zeros(len(rows), length, dtype=torch.bool)
    for index, row in enumerate(rows):
        ids[index, : len(row.inputs)] = torch.tensor(row.inputs)
        chosen[index, len(row.inputs) - row.scored : len(row.inputs)] = True
    return ids, chosen


def respond(instance: Instance, encoded: Encoded, scores: dict[Span, SpanScore]) -> Response:
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
    )


def _places(rows: Sequence[Row]) -> tuple[Tensor, Tensor]:
    """Of every target token in turn: its place among the chosen positions, and its id."""
    positions: list[int] = []
    tokens: list[int] = []
    end = 0
    for row in rows:
        end += row.scored
        for target in row.targets:
            positions += range(end - len(target), end)
            tokens += target
    return torch.tensor(positions), torch.tensor(tokens)


def _by_span(rows: Sequence[Row], logprobs: list[float], best: list[bool]) -> dict[Span, SpanScore]:
    scores: dict[Span, SpanScore] = {}
    start = 0
    for row in rows:
        for target in row.targets:
            end = start + len(target)
            scores[Span(row.inputs, target)] = SpanScore(tuple(logprobs[start:end]), all(best[start:end]))
            start = end
    return scores
