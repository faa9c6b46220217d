"""Small models made on the spot: a random one, and rigged ones whose every probability is known."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from hydra_eval.config.schema import ModelConfig
from hydra_eval.models.hf import HFModel, load_hf_model
from hydra_eval.models.source import load_hf_tokenizer

CORPUS = [
    "Question: Which of these floats on water? Answer: a cork. The stone sinks and the coin sinks.",
    "Question: How many legs do three hens have? Answer: six legs, because three times two is six.",
    "The ferry leaves at nine and comes back at noon; the last one leaves the harbour at seven.",
    "She walked to the market, bought four pears and a loaf, and gave one pear to her brother.",
    "def area(width, height):\n    return width * height\n\n\nprint(area(3, 4))  # twelve",
    "Wood burns, iron rusts, ice melts. Répondez: où est la gare? Ящик стоит у окна. 3.5% + 7 = ?",
]
CHAT = (
    "{{ bos_token }}{% for message in messages %}[{{ message['role'] }}] {{ message['content'] }}{{ eos_token }}\n"
    "{% endfor %}{% if add_generation_prompt %}[assistant] {% endif %}"
)
NEVER = -1e4
"""A logit whose probability is zero in float32."""


def save_tiny(folder: Path, *, adds_bos: bool = False) -> Path:
    """A random 2-layer Llama with a byte-level BPE of 420 tokens: BOS and EOS, no pad token."""
    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    core.train_from_iterator(
        CORPUS * 3,
        trainers.BpeTrainer(
            vocab_size=420, special_tokens=["<s>", "</s>"], initial_alphabet=alphabet, show_progress=False
        ),
    )
    if adds_bos:
        core.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, bos_token="<s>", eos_token="</s>", model_max_length=256)
    if adds_bos:
        tokenizer.chat_template = CHAT
    tokenizer.save_pretrained(folder)
    config = LlamaConfig(
        vocab_size=420,
        hidden_size=48,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=256,
        bos_token_id=0,
        eos_token_id=1,
        initializer_range=0.4,
    )
    with torch.random.fork_rng():
        torch.manual_seed(7)
        LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def save_rigged(folder: Path, logits: torch.Tensor, *, end_ids: list[int] | None = None) -> Path:
    """A Llama whose logits after token k are `logits[k]`, whatever came before.

    One token per character: 0 is BOS, 1 is EOS, 2 is "a", 3 is "b" and so on.
    """
    size = len(logits)
    config = LlamaConfig(
        vocab_size=size,
        hidden_size=size,
        intermediate_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        head_dim=2,
        max_position_embeddings=64,
        bos_token_id=0,
        eos_token_id=1,
    )
    model = LlamaForCausalLM(config)
    with torch.no_grad():
        model.model.embed_tokens.weight.copy_(torch.eye(size))
        # Nothing is added to the embedding, which the last norm then scales to length sqrt(size).
        model.model.layers[0].self_attn.o_proj.weight.zero_()
        model.model.layers[0].mlp.down_proj.weight.zero_()
        model.lm_head.weight.copy_(logits.T / size**0.5)
    model.generation_config.eos_token_id = end_ids or 1
    model.save_pretrained(folder)
    words = {"<s>": 0, "</s>": 1} | {chr(ord("a") + index): index + 2 for index in range(size - 2)}
    core = Tokenizer(models.WordLevel(words, unk_token="a"))
    core.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    core.decoder = decoders.Fuse()
    PreTrainedTokenizerFast(tokenizer_object=core, bos_token="<s>", eos_token="</s>").save_pretrained(folder)
    return folder


def save_script(folder: Path, pieces: Sequence[bytes]) -> Path:
    """A model that replies to "?" with these pieces, a token each, and then ends. A piece may be part of a character.

    Ids: 2 is "?", 3 the first piece, and so on; no two pieces may be equal.
    """
    logits = successor_logits(len(pieces) + 3)
    # Behind the last piece comes 1, which ends a reply.
    logits[-1] = logits[0]
    save_rigged(folder, logits)
    in_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    spelled = in_bytes.pre_tokenize_str(b"".join(pieces).decode())[0][0]
    ends = [0, *accumulate(map(len, pieces))]
    words = [spelled[start:end] for start, end in pairwise(ends)]
    core = Tokenizer(models.WordLevel({"<s>": 0, "</s>": 1, "?": 2} | {w: 3 + at for at, w in enumerate(words)}, "?"))
    core.decoder = decoders.ByteLevel()
    PreTrainedTokenizerFast(tokenizer_object=core, bos_token="<s>", eos_token="</s>").save_pretrained(folder)
    return folder


def successor_logits(size: int) -> torch.Tensor:
    """Token k is followed by k + 1 with probability 1."""
    return torch.eye(size).roll(1, dims=1) * 50


def uniform_logits(letters: int) -> torch.Tensor:
    """Each letter has the same probability after anything; special tokens have none."""
    logits = torch.zeros(letters + 2, letters + 2)
    logits[:, :2] = NEVER
    return logits


def load(folder: Path, **fields: Any) -> HFModel:
    """The model in a folder, on the CPU; `fields` are those of ModelConfig."""
    config = ModelConfig(pretrained=str(folder), **fields)
    return load_hf_model(config, "cpu", load_hf_tokenizer(config))
