"""Train the demo's model: `python -m hydra_eval.demo.train [FOLDER]` (default: the model shipped with the package)."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from hydra_eval.demo.corpus import BATCH, RUNS, SEPARATOR, run_text, training_runs
from hydra_eval.demo.documents import Document
from hydra_eval.demo.splits import SEED

logger = logging.getLogger(__name__)

SPECIAL = ("<pad>", "<bos>", "<eos>")
PAD, BOS, EOS = 0, 1, 2
IGNORED = -100
WINDOW = 1024
VOCABULARY = 768
RATE, MATRIX_RATE = 3e-3, 0.02
"""Learning rates of AdamW (embeddings, norms) and of Muon (the other matrices)."""
WARM_UP = 50
THREADS = 2


def train_tokenizer() -> PreTrainedTokenizerFast:
    """Byte-level BPE, digits one by one; a text gets no special token by itself."""
    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    core.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=list(SPECIAL),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    core.train_from_iterator((run_text(run) for run in training_runs(3_000)), trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=core,
        pad_token=SPECIAL[PAD],
        bos_token=SPECIAL[BOS],
        eos_token=SPECIAL[EOS],
        model_max_length=WINDOW,
        clean_up_tokenization_spaces=False,
    )


def new_model(vocabulary: int) -> LlamaForCausalLM:
    """Three layers of width 96, weights drawn from the seed."""
    torch.manual_seed(SEED)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=vocabulary,
            hidden_size=96,
            intermediate_size=256,
            num_hidden_layers=3,
            num_attention_heads=4,
            num_key_value_heads=4,
            max_position_embeddings=WINDOW,
            tie_word_embeddings=True,
            initializer_range=0.05,
            pad_token_id=PAD,
            bos_token_id=BOS,
            eos_token_id=EOS,
        )
    )


def encode(tokenizer: PreTrainedTokenizerFast, run: list[Document]) -> tuple[list[int], list[int]]:
    """Ids of a run, and the labels: only the answers and the line breaks after them are learnt."""
    ids, labels = [BOS], [IGNORED]
    for document in run:
        prompt = tokenizer.encode(document.prompt, add_special_tokens=False)
        answer = tokenizer.encode(f" {document.answer}{SEPARATOR}", add_special_tokens=False)
        ids += prompt + answer
        labels += [IGNORED] * len(prompt) + answer
    return ids, labels


def batches(tokenizer: PreTrainedTokenizerFast) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Input ids and labels of one step, `[runs, length]`, padded on the right."""
    runs = training_runs()
    while chunk := [encode(tokenizer, run) for run in islice(runs, BATCH)]:
        length = max(len(ids) for ids, _ in chunk)
        yield (
            torch.tensor([ids + [PAD] * (length - len(ids)) for ids, _ in chunk]),
            torch.tensor([labels + [IGNORED] * (length - len(labels)) for _, labels in chunk]),
        )


def answer_loss(model: LlamaForCausalLM, inputs: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Cross entropy of the learnt ids; the head runs on no other position."""
    hidden = model.model(input_ids=inputs[:, :-1]).last_hidden_state
    target = labels[:, 1:]
    wanted = target != IGNORED
    return torch.nn.functional.cross_entropy(model.lm_head(hidden[wanted]), target[wanted])


def optimisers(model: LlamaForCausalLM) -> list[torch.optim.Optimizer]:
    """Muon for the matrices inside the layers, AdamW for the rest (needs torch 2.9 or newer)."""
    inner = [p for name, p in model.named_parameters() if p.ndim == 2 and "embed" not in name]
    outer = [p for name, p in model.named_parameters() if p.ndim != 2 or "embed" in name]
    adam = torch.optim.AdamW(outer, lr=RATE, betas=(0.9, 0.98), weight_decay=0.0)
    return [adam, torch.optim.Muon(inner, lr=MATRIX_RATE, momentum=0.95, weight_decay=0.0)]


def share_of_rate(step: int, steps: int) -> float:
    """Warm-up, a plateau, and a straight fall over the last two fifths."""
    return min(1.0, (step + 1) / WARM_UP, max(0.03, (steps - step) / (0.4 * steps)))


def train(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast) -> None:
    steps = RUNS // BATCH
    chosen = optimisers(model)
    schedules = [torch.optim.lr_scheduler.LambdaLR(one, lambda step: share_of_rate(step, steps)) for one in chosen]
    started = time.monotonic()
    for step, (inputs, labels) in enumerate(batches(tokenizer)):
        loss = answer_loss(model, inputs, labels)
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for one in chosen:
            one.step()
        for schedule in schedules:
            schedule.step()
        model.zero_grad()
        if step % 50 == 0:
            logger.info("step %d of %d, loss %.4f, %.0f s", step, steps, loss.item(), time.monotonic() - started)


def main(folder: Path) -> None:
    torch.set_num_threads(THREADS)
    torch.use_deterministic_algorithms(True)
    tokenizer = train_tokenizer()
    model = new_model(len(tokenizer))
    train(model, tokenizer)
    model.generation_config = GenerationConfig(do_sample=False, pad_token_id=PAD, bos_token_id=BOS, eos_token_id=EOS)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "model")
