"""Local Hugging Face language models: text to ids, ids through an engine, and what it finds to responses."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from hydra_eval.config.schema import ModelConfig
from hydra_eval.models.base import ModelFacts, Reference
from hydra_eval.models.efficiency import Efficiency, fresh_counters
from hydra_eval.models.encoder_decoder import input_embeddings
from hydra_eval.models.encoding import Encoded, EncodedPacket, Ids, Span, encode_packet, encoder_of
from hydra_eval.models.engines import Engine, choose_engine, plain_engine
from hydra_eval.models.float32 import in_float32
from hydra_eval.models.likelihood import SpanScore, respond, share_rows
from hydra_eval.models.loading import load_weights
from hydra_eval.models.loading.compilation import compile_forward, uncompiled
from hydra_eval.models.loading.facts import loading_facts
from hydra_eval.models.memory import in_halves, in_one, peak_memory
from hydra_eval.models.prefixes import fold, path_of
from hydra_eval.models.replies import (
    SPECULATIVE,
    Ending,
    Manner,
    Wanted,
    all_stops,
    check_generation,
    cut_at_stops,
    end_ids,
    find_ending,
    reply_seed,
)
from hydra_eval.models.source import find_max_length, find_reply_window, generation_options
from hydra_eval.models.thinking import Parted, marker_of, part_reply
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
    """A loaded model. Stateless but for its counters: a packet's responses depend on the packet alone."""

    def __init__(self, model: Any, tokenizer: Any, config: ModelConfig) -> None:
        self.model = model
        self.tokenizer = tokenizer
        self.config = config
        max_length = find_max_length(config, model.config, tokenizer)
        self.encoder = encoder_of(config, tokenizer, max_length, apart=model.config.is_encoder_decoder)
        self._reply_window = find_reply_window(config, model.config, tokenizer)
        # Lengths come with each request; the model's own would compete with them.
        model.generation_config.max_length = model.generation_config.max_new_tokens = None
        self.marker = marker_of(config.think_end_token)
        self._sent = SentTokens()
        for embedding in input_embeddings(model):
            embedding.register_forward_hook(uncompiled(self._sent, config))
        compile_forward(model, config)
        self._in_parts = in_halves if config.tp_plan is None else in_one
        self.engine: Engine
        self.engine, how = choose_engine(model, config)
        self.facts = describe(model, tokenizer, config, max_length, how)
        self.efficiency = fresh_counters()

    def encode(self, packet: Packet) -> EncodedPacket:
        for generation, instances in _by_generation(packet.instances) if packet.kind is RequestKind.GENERATE else ():
            task = instances[0].key.task
            check_generation(generation, task=task, max_length=self._reply_window, known=generation_options())
        return encode_packet(packet, self.encoder)

    def loglikelihood(self, packet: Packet, encoded: EncodedPacket | None = None) -> list[Response]:
        requests, start = encoded or self.encode(packet)
        rows = share_rows((instance.key, request) for instance, request in zip(packet.instances, requests, strict=True))
        scores: dict[Span, SpanScore] = {}
        halvings = 0
        with self._measured(packet.kind) as spent, torch.inference_mode():
            for part, halved in self._in_parts(
                rows, lambda part: self.engine.score(part, start, spent), self.engine.forget
            ):
                scores |= part
                halvings = max(halvings, halved)
        spent.prefixes.append(fold(path for request in requests for path in request.paths))
        return [
            respond(instance, request, scores, halvings=halvings)
            for instance, request in zip(packet.instances, requests, strict=True)
        ]

    def generate(self, packet: Packet, encoded: EncodedPacket | None = None) -> list[Response]:
        requests, start = encoded or self.encode(packet)
        sent = {instance.key: request for instance, request in zip(packet.instances, requests, strict=True)}
        responses: dict[InstanceKey, Response] = {}
        for generation, instances in _by_generation(packet.instances):
            prompts = [sent[instance.key] for instance in instances]
            wanted = [_wanted(*pair, generation) for pair in zip(instances, prompts, strict=True)]
            replies, halvings = self._reply_all(wanted, self._manner(generation), start)
            for instance, prompt, one in zip(instances, prompts, wanted, strict=True):
                ending, parted = replies[one.prompt, one.seed]
                responses[instance.key] = Response(
                    key=instance.key,
                    text=parted.answer,
                    reasoning=parted.reasoning,
                    input_tokens=len(prompt.ids),
                    output_tokens=ending.tokens,
                    cut_tokens=prompt.cut_tokens,
                    input_ids=prompt.ids,
                    finish_reason=ending.reason,
                    halvings=halvings,
                )
        return [responses[instance.key] for instance in packet.instances]

    @contextmanager
    def one_by_one(self) -> Iterator[Reference]:
        alone = copy(self)
        alone.efficiency = fresh_counters()
        self.engine.forget()
        with in_float32(self.model, self.config) as why:
            alone.engine = plain_engine(self.model, replace(self.config, batch_size=1, softmax_dtype="float32"))
            yield Reference(alone, str(self.model.dtype).removeprefix("torch."), why)

    def _reply_all(
        self, wanted: Sequence[Wanted], manner: Manner, start: Ids
    ) -> tuple[dict[tuple[Ids, int | None], tuple[Ending, Parted]], int]:
        """(replies by prompt and seed, how often the packet was halved for want of memory).

        Equal prompts are one request unless each is to draw its own reply.
        """
        once = list({(one.prompt, one.seed): one for one in reversed(wanted)}.values())[::-1]
        rows: list[list[int]] = []
        halvings = 0
        with self._measured(RequestKind.GENERATE) as spent, torch.inference_mode():
            for part, halved in self._in_parts(
                once, lambda part: self.engine.reply(part, manner, start, spent), self.engine.forget
            ):
                rows += part
                halvings = max(halvings, halved)
            endings = [find_ending(row, manner) for row in rows]
        spent.generated_tokens += sum(ending.tokens for ending in endings)
        made = list(zip(once, rows, endings, strict=True))
        apart = self.encoder.apart
        spent.prefixes.append(fold(path_of(one.prompt, row[: end.tokens], apart=apart) for one, row, end in made))
        replies = {
            (one.prompt, one.seed): (ending, self._parted(row[: ending.content], manner)) for one, row, ending in made
        }
        return replies, halvings

    def _manner(self, generation: Generation) -> Manner:
        own = self.model.generation_config
        return Manner(
            generation=generation,
            eos_ids=end_ids(generation, own.eos_token_id, self.tokenizer),
            stops=all_stops(generation, self._eos_text, own=own.stop_strings),
            pad_id=self._pad_id,
            decode=self.tokenizer.decode,
            marker=self.marker,
            alone=any(generation.extra.get(name, getattr(own, name, None)) is not None for name in SPECULATIVE),
            beams=1 if generation.do_sample else generation.extra.get("num_beams", own.num_beams) or 1,
        )

    def _parted(self, content: Sequence[int], manner: Manner) -> Parted:
        """What is kept of a reply: its reasoning, and its answer up to the first stop string."""
        plain = partial(self.tokenizer.decode, skip_special_tokens=True)
        parted = part_reply(content, manner.marker, manner.decode, plain)
        return parted._replace(answer=cut_at_stops(parted.answer, manner.stops))

    @property
    def _eos_text(self) -> str:
        eos_id = self.tokenizer.eos_token_id
        return "" if eos_id is None else str(self.tokenizer.decode([eos_id]))

    @property
    def _pad_id(self) -> int:
        """Any id that has an embedding: padding is masked."""
        pad_id = int(self.tokenizer.pad_token_id)
        return pad_id if pad_id < self.model.config.get_text_config().vocab_size else 0

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
        loading=loading_facts(model, config),
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
