"""Local Hugging Face causal language models, in plain batches."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from transformers import AutoModelForCausalLM, StoppingCriteriaList

from hydra_eval.config.schema import ModelConfig
from hydra_eval.models.base import Efficiency, ModelFacts
from hydra_eval.models.batching import Budget, plan_batches
from hydra_eval.models.decoding import StopStrings, decode_seeded
from hydra_eval.models.encoding import Encoded, Ids, Span, encode_requests, encoder_of
from hydra_eval.models.head import find_logit_slices
from hydra_eval.models.likelihood import SpanScore, respond, score_rows, share_rows
from hydra_eval.models.replies import Ending, all_stops, check_generation, cut_at_stops, find_ending, reply_seed
from hydra_eval.models.source import find_max_length, find_source, generation_options, mendable, pin_cpu_arithmetic
from hydra_eval.records import Generation, Instance, InstanceKey, Packet, RequestKind, Response


def load_hf_model(config: ModelConfig, device: str, tokenizer: Any) -> HFModel:
    """The weights, on `device` or as `device_map` spreads them."""
    pin_cpu_arithmetic()
    if device == "cpu":
        torch.set_num_threads(cpu_threads(config))
    options = {
        "revision": config.revision or "main",
        "subfolder": config.subfolder,
        "dtype": config.dtype,
        "trust_remote_code": config.trust_remote_code,
        "attn_implementation": config.attn_implementation,
        "device_map": config.device_map or (None if device == "cpu" else {"": device}),
    }
    with mendable("model.pretrained", config.pretrained):
        source = find_source(config.pretrained, field="model.pretrained")
        model = AutoModelForCausalLM.from_pretrained(source, **options | config.kwargs)
    return HFModel(model.eval(), tokenizer, config)


def cpu_threads(config: ModelConfig) -> int:
    """What the config says, else what the launcher says, else 1: never what the machine has.

    Kernels share out their sums by threads, so the same run must take the same number of them on one process
    (`python run.py`) and on several (launchers set OMP_NUM_THREADS=1).
    """
    said = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
    return config.cpu_threads or (int(said) if said.isdigit() and int(said) > 0 else 1)


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
        self.budget = Budget(tokens=config.batch_tokens, rows=config.batch_size)
        self.softmax_dtype = None if config.softmax_dtype is None else getattr(torch, config.softmax_dtype)
        self.logit_slices = find_logit_slices(model)
        # Lengths come with each request; the model's own would compete with them.
        model.generation_config.max_length = model.generation_config.max_new_tokens = None
        self.facts = describe(model, tokenizer, config, max_length)
        self.efficiency = {kind.value: Efficiency() for kind in RequestKind}
        self._sent = SentTokens()
        model.get_input_embeddings().register_forward_hook(self._sent)

    def loglikelihood(self, packet: Packet) -> list[Response]:
        encoded = encode_requests(packet.instances, self.encoder)
        rows = share_rows((instance.key, request) for instance, request in zip(packet.instances, encoded, strict=True))
        scores: dict[Span, SpanScore] = {}
        with self._measured(packet.kind) as spent, torch.inference_mode():
            for batch in plan_batches([row.inputs for row in rows], [row.key for row in rows], self.budget):
                chunk = [rows[index] for index in batch]
                scores |= score_rows(chunk, self.logit_slices, device=self.model.device, dtype=self.softmax_dtype)
                spent.logit_positions += sum(row.scored for row in chunk)
        return [respond(instance, request, scores) for instance, request in zip(packet.instances, encoded, strict=True)]

    def generate(self, packet: Packet) -> list[Response]:
        responses: dict[InstanceKey, Response] = {}
        for generation, instances in _by_generation(packet.instances):
            task = instances[0].key.task
            check_generation(generation, task=task, max_length=self.encoder.max_length, known=generation_options())
            prompts = encode_requests(instances, self.encoder)
            replies = self._reply_all(instances, prompts, generation)
            for instance, prompt in zip(instances, prompts, strict=True):
                ending, text = replies[_reply_identity(instance, prompt, generation)]
                responses[instance.key] = Response(
                    key=instance.key,
                    text=text,
                    input_tokens=len(prompt.ids),
                    output_tokens=ending.tokens,
                    cut_tokens=prompt.cut_tokens,
                    input_ids=prompt.ids,
                    finish_reason=ending.reason,
                )
        return [responses[instance.key] for instance in packet.instances]

    def _reply_all(
        self, instances: Sequence[Instance], prompts: Sequence[Encoded], generation: Generation
    ) -> dict[Any, tuple[Ending, str]]:
        """Replies by identity: equal prompts are one request unless each is to draw its own reply."""
        wanted: dict[Any, tuple[Ids, InstanceKey]] = {}
        for instance, prompt in zip(instances, prompts, strict=True):
            wanted.setdefault(_reply_identity(instance, prompt, generation), (prompt.ids, instance.key))
        identities = list(wanted)
        replies: dict[Any, tuple[Ending, str]] = {}
        ids, keys = zip(*wanted.values(), strict=True)
        for batch in plan_batches(ids, keys, self.budget, room=generation.max_new_tokens):
            found = self._reply_batch([ids[at] for at in batch], [keys[at] for at in batch], generation)
            replies |= zip([identities[at] for at in batch], found, strict=True)
        return replies

    def _reply_batch(
        self, prompts: Sequence[Ids], keys: Sequence[InstanceKey], generation: Generation
    ) -> list[tuple[Ending, str]]:
        ids, mask = _pad_left(prompts, self._pad_id)
        eos_ids = self._eos_ids(generation)
        stops = all_stops(generation, self._eos_text)
        options: dict[str, Any] = {
            "max_new_tokens": generation.max_new_tokens,
            "eos_token_id": eos_ids or None,
            "pad_token_id": self._pad_id,
            "stopping_criteria": StoppingCriteriaList([StopStrings(stops, self.tokenizer, ids.shape[1])]),
            **self._choice(generation, keys),
            **{name: value for name, value in generation.extra.items() if name != "eos_token_id"},
        }
        with self._measured(RequestKind.GENERATE) as spent, torch.inference_mode():
            device = self.model.device
            sequences = self.model.generate(input_ids=ids.to(device), attention_mask=mask.to(device), **options)
            rows = sequences[:, ids.shape[1] :].tolist()
            endings = [find_ending(row, eos_ids=eos_ids, stops=stops, decode=self.tokenizer.decode) for row in rows]
            spent.logit_positions += sequences[:, ids.shape[1] :].numel() * generation.extra.get("num_beams", 1)
            spent.generated_tokens += sum(ending.tokens for ending in endings)
        return [(ending, self._text(row, ending, stops)) for row, ending in zip(rows, endings, strict=True)]

    def _choice(self, generation: Generation, keys: Sequence[InstanceKey]) -> dict[str, Any]:
        """How the next token is chosen. What is left out is the model's own, else transformers' default (top_k 50)."""
        if not generation.do_sample:
            return {"do_sample": False}
        limits = {"top_p": generation.top_p, "top_k": generation.top_k}
        return {
            "do_sample": True,
            "temperature": generation.temperature,
            "custom_generate": decode_seeded,
            "seeds": [reply_seed(generation.seed, key) for key in keys],
            **{name: value for name, value in limits.items() if value is not None},
        }

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


def describe(model: Any, tokenizer: Any, config: ModelConfig, max_length: int) -> ModelFacts:
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


def _reply_identity(instance: Instance, prompt: Encoded, generation: Generation) -> Any:
    return (prompt.ids, instance.key if generation.do_sample else None)


def _pad_left(prompts: Sequence[Ids], pad_id: int) -> tuple[Tensor, Tensor]:
    """Ids and attention mask [rows, length], prompts flush right, where generation goes on."""
    length = max(map(len, prompts))
    ids = torch.full((len(prompts), length), pad_id, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for row, prompt in enumerate(prompts):
        ids[row, length - len(prompt) :] = torch.tensor(prompt)
        mask[row, length - len(prompt) :] = 1
    return ids, mask
