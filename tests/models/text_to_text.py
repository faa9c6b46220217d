"""Small random encoder-decoders, with tokenizers as such models have them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import AutoModelForSeq2SeqLM, BartConfig, PreTrainedTokenizerFast, T5Config

from .building import CORPUS

WINDOW = 64
SIZE = 400


def save_t5(folder: Path) -> Path:
    """Relative positions, pieces of words, an end-of-sequence after each text, one embedding for both halves."""
    core = Tokenizer(models.Unigram())
    core.pre_tokenizer = pre_tokenizers.Metaspace()
    core.decoder = decoders.Metaspace()
    special = ["<pad>", "</s>", "<unk>"]
    core.train_from_iterator(
        CORPUS * 3,
        trainers.UnigramTrainer(vocab_size=SIZE, special_tokens=special, unk_token="<unk>", show_progress=False),
    )
    core.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    save_tokenizer(folder, core, pad_token="<pad>", eos_token="</s>", unk_token="<unk>")
    config = T5Config(
        vocab_size=SIZE,
        d_model=48,
        d_kv=12,
        d_ff=64,
        num_layers=2,
        num_heads=4,
        relative_attention_num_buckets=8,
        relative_attention_max_distance=16,
        decoder_start_token_id=0,
    )
    return save_random(folder, config)


def save_bart(folder: Path) -> Path:
    """Learned positions, bytes, a beginning and an end around each text, a bias on the logits."""
    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    core.train_from_iterator(
        CORPUS * 3,
        trainers.BpeTrainer(vocab_size=SIZE, special_tokens=special, initial_alphabet=alphabet, show_progress=False),
    )
    core.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    save_tokenizer(folder, core, bos_token="<s>", pad_token="<pad>", eos_token="</s>", unk_token="<unk>")
    config = BartConfig(
        vocab_size=SIZE,
        d_model=48,
        encoder_layers=2,
        decoder_layers=1,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        max_position_embeddings=WINDOW,
        forced_eos_token_id=None,
    )
    return save_random(folder, config)


def save_tokenizer(folder: Path, core: Tokenizer, **special: str) -> None:
    PreTrainedTokenizerFast(tokenizer_object=core, model_max_length=WINDOW, **special).save_pretrained(folder)


def save_random(folder: Path, config: Any) -> Path:
    """Weights that are large enough for each context to make a difference."""
    with torch.random.fork_rng():
        torch.manual_seed(3)
        model = AutoModelForSeq2SeqLM.from_config(config)
        with torch.no_grad():
            for name, weight in model.named_parameters():
                if weight.dim() > 1:
                    weight.normal_(std=1.0 if "embed" in name or "shared" in name else 0.35)
    if (bias := getattr(model, "final_logits_bias", None)) is not None:
        bias.copy_(torch.linspace(-1, 1, SIZE))
    model.save_pretrained(folder)
    return folder
