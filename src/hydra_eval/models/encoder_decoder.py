"""Encoder-decoder models (T5, BART): each distinct context is encoded once; all that follows it is decoded from there.

Semantics: lm-eval 0.4.13, `HFLM` with `backend=seq2seq`. The decoder reads its start token and the continuation without
its last token, and all its outputs are scored.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from transformers.modeling_outputs import BaseModelOutput

from hydra_eval.errors import UserError
from hydra_eval.models.batching import Budget, plan_batches
from hydra_eval.models.efficiency import Efficiency
from hydra_eval.models.encoding import Ids, Span
from hydra_eval.models.head import LOGITS_PER_SLICE
from hydra_eval.models.likelihood import Row, SpanScore, score_spans
from hydra_eval.models.plain import counted_replies, generate_rows, reply_in_batches
from hydra_eval.models.replies import Manner, Wanted

logger = logging.getLogger(__name__)

STARTS = ("decoder_start_token_id", "bos_token_id")


class Text(NamedTuple):
    """Contexts as the encoder leaves them."""

    ids: Tensor
    """[contexts, length], padded to the right."""
    mask: Tensor
    states: Tensor
    """[contexts, length, hidden]"""

    def inputs(self, places: Sequence[int]) -> dict[str, Any]:
        """What the decoder sees of the contexts at these places, which may come several times."""
        at = torch.tensor(places)
        return {
            "encoder_outputs": BaseModelOutput(last_hidden_state=self.states[at]),
            "attention_mask": self.mask[at],
        }


class Run(NamedTuple):
    """One sequence for the decoder."""

    ids: Ids
    place: int
    """Of its context in the text."""
    spans: tuple[Span, ...]
    """What is scored there: continuations that differ in no more than their last token."""


class EncoderDecoderEngine:
    """Scores and replies in batches of like length."""

    def __init__(self, model: Any, budget: Budget, dtype: torch.dtype | None) -> None:
        self.model = model
        self.budget = budget
        self.dtype = dtype
        self.start_id = find_start_id(model)
        self._picks = head_takes_chosen(model, self.start_id)

    def score(self, rows: Sequence[Row], start: Ids, spent: Efficiency) -> dict[Span, SpanScore]:
        """The scores of every span. Contexts that only begin alike share nothing: an encoder sees all at once."""
        scores: dict[Span, SpanScore] = {}
        for batch in plan_batches([row.inputs for row in rows], [row.key for row in rows], self.budget):
            text = self._encode([rows[at].inputs for at in batch])
            runs = [run for place, at in enumerate(batch) for run in self._runs(rows[at], place)]
            for chunk in self._batches(runs, beside=text.ids.shape[1]):
                logits = self._logits(chunk, text)
                scores |= score_spans([logits], _places(chunk), self.dtype)
                spent.logit_positions += len(logits)
        return scores

    def reply(self, wanted: Sequence[Wanted], manner: Manner, start: Ids, spent: Efficiency) -> list[list[int]]:
        """The ids of each reply, which may go on after its end: rows of a batch wait for each other."""
        return reply_in_batches(wanted, manner, self.budget, lambda batch: self._reply_batch(batch, manner, spent))

    def forget(self) -> None:
        """Nothing is kept from packet to packet."""

    def _reply_batch(self, wanted: Sequence[Wanted], manner: Manner, spent: Efficiency) -> list[list[int]]:
        places = {prompt: place for place, prompt in enumerate(dict.fromkeys(one.prompt for one in wanted))}
        text, at = self._encode(list(places), manner.pad_id), [places[one.prompt] for one in wanted]
        # The ids are for those of transformers' processors that ask what was in the prompt.
        inputs = {"input_ids": text.ids[at], **text.inputs(at)}
        return counted_replies(generate_rows(self.model, wanted, manner, inputs=inputs, behind=1), manner, spent)

    def _encode(self, contexts: Sequence[Ids], pad_id: int = 0) -> Text:
        ids, mask = _padded(contexts, pad_id)
        ids, mask = ids.to(self.model.device), mask.to(self.model.device)
        states = self.model.get_encoder()(input_ids=ids, attention_mask=mask.long()).last_hidden_state
        return Text(ids, mask.long(), states)

    def _runs(self, row: Row, place: int) -> Iterator[Run]:
        together: dict[Ids, list[Span]] = {}
        for target in row.targets:
            together.setdefault((self.start_id, *target[:-1]), []).append(Span(row.inputs, target))
        return (Run(ids, place, tuple(spans)) for ids, spans in together.items())

    def _batches(self, runs: Sequence[Run], *, beside: int) -> Iterator[list[Run]]:
        """Rows share a forward pass as far as its budget goes, their contexts beside them, and its logits."""
        size = self.model.config.get_text_config().vocab_size
        most = max(1, LOGITS_PER_SLICE // (size * max(len(run.ids) for run in runs)))
        budget = Budget(tokens=self.budget.tokens, rows=min(most, self.budget.rows or most))
        for batch in plan_batches([run.ids for run in runs], [run.place for run in runs], budget, room=beside):
            yield [runs[at] for at in batch]

    def _logits(self, runs: Sequence[Run], text: Text) -> Tensor:
        """[positions of all runs, vocabulary]"""
        ids, chosen = _padded([run.ids for run in runs], 0)
        inputs = text.inputs([run.place for run in runs])
        return decoder_logits(self.model, ids.to(self.model.device), chosen, inputs, picks=self._picks)


def input_embeddings(model: Any) -> list[Any]:
    """Each once: encoder and decoder have modules of their own, even where they share their weights."""
    parts = [model, *((model.get_encoder(), model.get_decoder()) if model.config.is_encoder_decoder else ())]
    found = [part.get_input_embeddings() for part in parts if hasattr(part, "get_input_embeddings")]
    return list({id(embedding): embedding for embedding in found}.values())


def find_start_id(model: Any) -> int:
    """The token that the decoder starts with, as transformers' `generate` finds it."""
    for source in (model.generation_config, model.config):
        for name in STARTS:
            if (token := getattr(source, name, None)) is not None:
                return int(token)
    raise UserError(
        f"{type(model).__name__}: neither decoder_start_token_id nor bos_token_id is set, so nothing says what the "
        "decoder starts with. Add decoder_start_token_id to the model's generation_config.json."
    )


@torch.inference_mode()
def head_takes_chosen(model: Any, start_id: int) -> bool:
    """Whether the head gives the same logits where it gets only the positions that are scored."""
    text = torch.ones(2, 3, dtype=torch.long, device=model.device)
    inputs = {"input_ids": text, "attention_mask": text}
    ids, chosen = torch.full_like(text, start_id), torch.tensor([[True, True, False], [True, False, False]])
    whole = decoder_logits(model, ids, chosen, inputs, picks=False)
    try:
        picked = decoder_logits(model, ids, chosen, inputs, picks=True)
    except (IndexError, RuntimeError, TypeError) as error:
        logger.info("%s: logits of all positions, those of padding included (%s).", type(model).__name__, error)
        return False
    slack = 8 * torch.finfo(whole.dtype).eps
    return picked.shape == whole.shape and torch.allclose(
        picked, whole, rtol=slack, atol=slack * float(whole.abs().max())
    )


def decoder_logits(model: Any, ids: Tensor, chosen: Tensor, inputs: dict[str, Any], *, picks: bool) -> Tensor:
    """[chosen positions, vocabulary], row by row. `picks`: what goes into the head is cut down to them."""
    head = model.get_output_embeddings() if picks else None
    if head is None:
        logits: Tensor = model(decoder_input_ids=ids, use_cache=False, **inputs).logits
        return logits[chosen.to(logits.device)]
    with head.register_forward_pre_hook(lambda _, hidden: (hidden[0][chosen.to(hidden[0].device)][None],)):
        picked: Tensor = model(decoder_input_ids=ids, use_cache=False, **inputs).logits
    return picked[0]


def _places(runs: Sequence[Run]) -> dict[Span, Tensor]:
    """Where each span's logits stand among those of all runs."""
    places: dict[Span, Tensor] = {}
    end = 0
    for run in runs:
        end += len(run.ids)
        places |= {span: torch.arange(end - len(run.ids), end) for span in run.spans}
    return places


def _padded(sequences: Sequence[Ids], pad_id: int) -> tuple[Tensor, Tensor]:
    """Ids and which of them are real [rows, length], padded to the right, as positions are counted from the left."""
    length = max(map(len, sequences))
    ids = torch.full((len(sequences), length), pad_id, dtype=torch.long)
    real = torch.zeros(len(sequences), length, dtype=torch.bool)
    for row, sequence in enumerate(sequences):
        ids[row, : len(sequence)] = torch.tensor(sequence)
        real[row, : len(sequence)] = True
    return ids, real
