"""Build a random model and tokenizer without any download: `python -m tests.parity.tiny DIR`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

VOCABULARY, WINDOW = 1024, 2048
BOS, EOS = "<s>", "</s>"


def corpus(tasks: Path) -> Iterator[str]:
    """The text of the bundled task folders, in a fixed order."""
    for path in sorted(tasks.rglob("*")):
        if path.suffix in (".jsonl", ".md", ".py", ".yaml"):
            yield path.read_text(encoding="utf-8")


def train_tokenizer(texts: Iterator[str]) -> PreTrainedTokenizerFast:
    """Byte-level, so that it can spell any text; adds no special tokens by itself."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY, special_tokens=[BOS, EOS], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=BOS, eos_token=EOS, model_max_length=WINDOW)


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


def build(folder: Path, *, tasks: Path, seed: int = 0) -> Path:
    """A float32 checkpoint with its tokenizer in `folder`."""
    train_tokenizer(corpus(tasks)).save_pretrained(folder)
    random_model(seed).save_pretrained(folder)
    return folder


if __name__ == "__main__":
    build(Path(sys.argv[1]), tasks=Path(__file__).resolve().parents[2] / "tasks")
