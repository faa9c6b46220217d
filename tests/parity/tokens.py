"""The token ids that each program would send for a request; no weights are loaded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydra_eval.config.schema import ModelConfig
from hydra_eval.models import load_encoder, load_tokenizer
from hydra_eval.models.encoding import Encoder, encode_requests
from hydra_eval.records import Instance


class Sent(Exception):
    """Raised where lm-eval would run the model, with what it would run."""

    def __init__(self, ids: list[int]) -> None:
        super().__init__("no model is run here")
        self.ids = ids


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """One folder's tokenizer and window behind both programs."""

    theirs: Any
    ours: Encoder

    def differences(self, theirs: Sequence[Any], ours: Sequence[Instance]) -> Iterator[str]:
        """`theirs`: lm-eval's instances of the same requests."""
        for their, our, encoded in zip(theirs, ours, encode_requests(ours, self.ours), strict=True):
            expected = their_ids(self.theirs, their)
            if expected != (found := (list(encoded.ids), encoded.scored)):
                both = f"lm-eval {_brief(expected)}, hydra-eval {_brief(found)}"
                yield f"document {our.key.doc}, request {our.key.request}: ids: {both}"


def tokens_of(folder: Path) -> Tokens:
    config = ModelConfig(pretrained=str(folder), device="cpu")
    return Tokens(theirs=_their_model(folder), ours=load_encoder(config, load_tokenizer(config)))


def their_ids(model: Any, request: Any) -> tuple[list[int], int]:
    """What lm-eval sends for a request, cut as it cuts it, and how many ids at its end are scored.

    The last of those is predicted and never run, but it counts as sent.
    """
    model.scored = []
    try:
        getattr(model, request.request_type)([request], disable_tqdm=True)
    except Sent as sent:
        return sent.ids + model.scored[-1:], len(model.scored)
    raise AssertionError(f"lm-eval sent nothing for {request}")


def _their_model(folder: Path) -> Any:
    """lm-eval's own class on a model without weights, which tells what it would have run."""
    import torch
    from lm_eval.models.huggingface import HFLM
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

    class Listener(HFLM):
        scored: list[int]

        def _loglikelihood_tokens(self, requests: Any, **options: Any) -> Any:
            ((_, _, self.scored),) = requests
            return super()._loglikelihood_tokens(requests, **options)

        def _model_call(self, inps: Any, **options: Any) -> Any:
            raise Sent(inps[0].tolist())

        def _model_generate(self, context: Any, **options: Any) -> Any:
            raise Sent(context[0].tolist())

    with torch.device("meta"):
        bare = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(folder))
    model = Listener(pretrained=bare, tokenizer=AutoTokenizer.from_pretrained(folder))
    model._device = torch.device("cpu")  # where ids are made, so that they can be read
    model.scored = []
    return model


def _brief(found: tuple[list[int], int]) -> str:
    ids, scored = found
    return f"{len(ids)} ids {ids[:3]}…{ids[-6:]}, {scored} scored"
