"""Local Hugging Face causal language models: text to ids, ids through an engine, and what it finds to responses."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from hydra_eval.config.schema import ModelConfig
from hydra_eval.models.base import ModelFacts
from hydra_eval.models.efficiency import Efficiency, fresh_counters
from hydra_eval.models.encoding import Encoded, Ids, Span, encode_requests, encoder_of, shared_start
from hydra_eval.models.engines import choose_engine
from hydra_eval.models.likelihood import SpanScore, respond, share_rows
from hydra_eval.models.loading import load_weights
from hydra_eval.models.memory import in_halves, peak_memory
from hydra_eval.models.prefixes import fold
from hydra_eval.models.replies import (
    Ending,
    Manner,
    Wanted,
    all_stops,
    check_generation,
    cut_at_stops,
    find_ending,
    reply_seed,
)
from hydra_eval.models.source import find_max_length, generation_options
from hydra_eval.records import Generation, Instance, InstanceKey, Packet, RequestKind, Response


def load_hf_model(config: ModelConfig, device: str, tokenizer: Any) -> HFModel:
    """The model, ready to answer."""
    return HFModel(load_weights(config, device), tokenizer, config)


class SentTokens:
    """Counts positions as they are embedded. Apart from the model, so that no cycle keeps old weights in memory."""

    count = 0

    def __call__(self, module: Any, arguments: Any, embedded: Tensor) -> None:
        self.count += embedded.shape[:-1].numel()


class HFModel:
    """A loaded causal model. Stateless but for its counters: a packet's responses depend on the packet alone."""

    def __init__(self, model: Any, tokenizer: Any, config: ModelConfig) -> None:
        self.model = model
        self.tokenizer = tokenizer
        max_length = find_max_length(config, model.config, tokenizer)
        self.encoder = encoder_of(config, tokenizer, max_length)
        # Lengths come with each request; the model's own would compete with them.
        model.generation_config.max_length = model.generation_config.max_new_tokens = None
        self.engine, how = choose_engine(model, config)
        self.facts = describe(model, tokenizer, config, max_length, how)
        self.efficiency = fresh_counters()
        self._sent = SentTokens()
        model.get_input_embeddings().register_forward_hook(self._sent)

    def loglikelihood(self, packet: Packet) -> list[Response]:
        encoded = encode_requests(packet.instances, self.encoder)
        rows = share_rows((instance.key, request) for instance, request in zip(packet.instances, encoded, strict=True))
        start = shared_start(packet.prefix, self.encoder)
        scores: dict[Span, SpanScore] = {}
        halvings = 0
        with self._measured(packet.kind) as spent, torch.inference_mode():
            for part, halved in in_halves(rows, lambda part: self.engine.score(part, start, spent)):
                scores |= part
                halvings = max(halvings, halved)
        spent.prefixes.append(fold(row.inputs for row in rows))
        return [
            respond(instance, request, scores, halvings=halvings)
            for instance, request in zip(packet.instances, encoded, strict=True)
        ]

    def generate(self, packet: Packet) -> list[Response]:
        responses: dict[InstanceKey, Response] = {}
        for generation, instances in _by_generation(packet.instances):
            task = instances[0].key.task
            check_generation(generation, task=task, max_length=self.encoder.max_length, known=generation_options())
            prompts = encode_requests(instances, self.encoder)
            wanted = [_wanted(*pair, generation) for pair in zip(instances, prompts, strict=True)]
            replies, halvings = self._reply_all(wanted, self._manner(generation), packet)
            for instance, prompt, one in zip(instances, prompts, wanted, strict=True):
                ending, text = replies[one.prompt, one.seed]
                responses[instance.key] = Response(
                    key=instance.key,
                    text=text,
                    input_tokens=len(prompt.ids),
                    output_tokens=ending.tokens,
                    cut_tokens=prompt.cut_tokens,
                    input_ids=prompt.ids,
                    finish_reason=ending.reason,
                    halvings=halvings,
                )
        return [responses[instance.key] for instance in packet.instances]

    def _reply_all(
        self, wanted: Sequence[Wanted], manner: Manner, packet: Packet
    ) -> tuple[dict[tuple[Ids, int | None], tuple[Ending, str]], int]:
        """(replies by prompt and seed, how often the packet was halved for want of memory).

        Equal prompts are one request unless each is to draw its own reply.
        """
        once = list({(one.prompt, one.seed): one for one in reversed(wanted)}.values())[::-1]
        start = shared_start(packet.prefix, self.encoder)
        rows: list[list[int]] = []
        halvings = 0
        with self._measured(packet.kind) as spent, torch.inference_mode():
            for part, halved in in_halves(once, lambda part: self.engine.reply(part, manner, start, spent)):
                rows += part
                halvings = max(halvings, halved)
            endings = [
                find_ending(row, eos_ids=manner.eos_ids, stops=manner.stops, decode=manner.decode) for row in rows
            ]
        spent.generated_tokens += sum(ending.tokens for ending in endings)
        made = list(zip(once, rows, endings, strict=True))
        spent.prefixes.append(fold((*one.prompt, *row[: ending.tokens - 1]) for one, row, ending in made))
        replies = {(one.prompt, one.seed): (ending, self._text(row, ending, manner.stops)) for one, row, ending in made}
        return replies, halvings

    def _manner(self, generation: Generation) -> Manner:
        return Manner(
            generation=generation,
            eos_ids=tuple(self._eos_ids(generation)),
            stops=all_stops(generation, self._eos_text),
            pad_id=self._pad_id,
            decode=self.tokenizer.decode,
        )

    def _text(self, row: Sequence[int], ending: Ending, stops: Sequence[str]) -> str:
        return cut_at_stops(self.tokenizer.decode(row[: ending.content], skip_special_tokens=True), stops)

    def _eos_ids(self, generation: Generation) -> list[int]:
        """Every id that ends a reply: chat models list several, of which the tokenizer knows one."""
        own = generation.extra.get("eos_token_id", self.model.generation_config.eos_token_id)
        listed = own if isinstance(own, list | tuple) else [own]
        return sorted({token for token in (*listed, self.tokenizer.eos_token_id) if token is not None})

    @property
    def _eos_text(self) -> str:
        eos_id = self.tokenizer.eos_token_id
        return "" if eos_id is None else str(self.tokenizer.decode([eos_id]))

    @property
    def _pad_id(self) -> int:
        """Any id that has an embedding: padding is masked."""
        pad_id = int(self.tokenizer.pad_token_id)
        return pad_id if pad_id < self.model.get_input_embeddings().num_embeddings else 0

    @contextmanager
    def _measured(self, kind: RequestKind) -> Iterator[Efficiency]:
        spent, before, start = self.efficiency[kind.value], self._sent.count, time.perf_counter()
        yield spent
        spent.forward_tokens += self._sent.count - before
        spent.model_seconds += time.perf_counter() - start
        spent.peak_memory_bytes = max(spent.peak_memory_bytes, peak_memory(self.model.device))


def describe(model: Any, tokenizer: Any, config: ModelConfig, max_length: int, engine: Mapping[str, Any]) -> ModelFacts:
    """What a results file says about a loaded model; names and forms of `tokens` are lm-eval's."""
    source = str(config.pretrained)
    special = {
        f"tokenizer_{name}_token": [getattr(tokenizer, f"{name}_token"), str(getattr(tokenizer, f"{name}_token_id"))]
        for name in ("pad", "eos", "bos")
    }
    return ModelFacts(
        name=config.name or source.rstrip("/").rpartition("/")[2],
        source=source,
        revision=config.revision,
        sha=getattr(model.config, "_commit_hash", None),
        parameters=model.num_parameters(),
        dtype=str(model.dtype),
        max_length=max_length,
        device=str(model.device),
        tokens={**special, "eot_token_id": tokenizer.eos_token_id},
        engine=engine,
    )


def _by_generation(instances: Iterable[Instance]) -> list[tuple[Generation, list[Instance]]]:
    """Requests that are generated alike, in order of appearance. `extra` is a dict, so they cannot be keys."""
    groups: list[tuple[Generation, list[Instance]]] = []
    for instance in instances:
        assert instance.generation is not None
        group = next((members for generation, members in groups if generation == instance.generation), None)
        if group is None:
            groups.append((instance.generation, [instance]))
        else:
            group.append(instance)
    return groups


def _wanted(instance: Instance, prompt: Encoded, generation: Generation) -> Wanted:
    seed = reply_seed(generation.seed, instance.key) if generation.do_sample else None
    return Wanted(prompt.ids, instance.key, seed)
