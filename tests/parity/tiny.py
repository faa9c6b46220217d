"""Build a random model and tokenizer without any download: `python -m tests.parity.tiny DIR [--bos]`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from .wordings import TURNS

VOCABULARY, WINDOW = 1024, 2048
BOS, EOS = "<s>", "</s>"


def corpus(tasks: Path) -> Iterator[str]:
    """The text of the bundled task folders, in a fixed order."""
    for path in sorted(tasks.rglob("*")):
        if path.suffix in (".jsonl", ".md", ".py", ".yaml"):
            yield path.read_text(encoding="utf-8")


def train_tokenizer(texts: Iterator[str], *, bos: bool) -> PreTrainedTokenizerFast:
    """Byte-level, so that it can spell any text. `bos`: puts BOS before every text; else it adds no special tokens."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY, special_tokens=[BOS, EOS], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    if bos:
        opening = [(BOS, tokenizer.token_to_id(BOS))]
        tokenizer.post_processor = processors.TemplateProcessing(single=f"{BOS} $A", special_tokens=opening)
    options = {"bos_token": BOS, "eos_token": EOS, "model_max_length": WINDOW, "chat_template": TURNS}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **options)


def random_model(seed: int) -> LlamaForCausalLM:
    """Weights wide enough that first choices stand clear of the second."""
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=WINDOW,
        bos_token_id=0,
        eos_token_id=1,
        initializer_range=0.5,
    )
    return LlamaForCausalLM(config)


def build(folder: Path, *, tasks: Path, seed: int = 0, bos: bool = False) -> Path:
    """A float32 checkpoint with its tokenizer in `folder`."""
    train_tokenizer(corpus(tasks), bos=bos).save_pretrained(folder)
    random_model(seed).save_pretrained(folder)
    return folder


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--bos", action="store_true", help="the tokenizer puts BOS before every text")
    given = parser.parse_args()
    build(given.folder, tasks=Path(__file__).resolve().parents[2] / "tasks", bos=given.bos)
