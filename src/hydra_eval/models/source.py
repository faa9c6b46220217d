"""Where a model comes from: folder or hub, checked before anything large is read. No weights here."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from hydra_eval.config.schema import ModelConfig
from hydra_eval.errors import UserError, did_you_mean
from hydra_eval.hub import go_offline_if_unreachable
from hydra_eval.models.replies import check_generation
from hydra_eval.records import Generation

DEFAULT_MAX_LENGTH = 2048
LENGTH_FIELDS = ("n_positions", "max_position_embeddings", "n_ctx")
NO_LIMIT = int(1e30)
"""What a tokenizer reports as its `model_max_length` when it has none."""
DTYPES = ("bfloat16", "float16", "float32", "float64")
HUB_NAME = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)?")


def load_hf_tokenizer(config: ModelConfig) -> Any:
    """The tokenizer, with a pad token. Also checks what can be checked of the model without its weights."""
    pin_cpu_arithmetic()
    _check_dtypes(config)
    check_device(config.device)
    _check_attention(config.attn_implementation)
    _check_architecture(config)
    from transformers import AutoTokenizer

    own = config.tokenizer is None
    field, name = ("model.pretrained", config.pretrained) if own else ("model.tokenizer", config.tokenizer)
    options: dict[str, Any] = {"trust_remote_code": config.trust_remote_code}
    if config.add_bos_token is not None:
        options["add_bos_token"] = config.add_bos_token
    if own:
        options |= {"revision": config.revision or "main", "subfolder": config.subfolder}
    with mendable(field, name):
        tokenizer = AutoTokenizer.from_pretrained(find_source(name, field=field), **options)
    return _with_pad_token(tokenizer)


def load_hf_config(config: ModelConfig) -> Any:
    """The architecture's config."""
    from transformers import AutoConfig

    with mendable("model.pretrained", config.pretrained):
        return AutoConfig.from_pretrained(
            find_source(config.pretrained, field="model.pretrained"),
            revision=config.revision or "main",
            subfolder=config.subfolder,
            trust_remote_code=config.trust_remote_code,
        )


def find_source(name: str | None, *, field: str) -> str:
    """A folder that exists, or a hub name. What looks like a path and is none never reaches the hub."""
    if name is None:
        raise UserError(f"{field} is not set. Give a local folder or a hub name: {field}=DIR, {field}=ORG/NAME.")
    folder = Path(name).expanduser()
    if folder.is_dir():
        return str(folder)
    if folder.exists():
        raise UserError(f"{field}={name}: this is a file. Give the folder that holds it.")
    if not HUB_NAME.fullmatch(name):
        raise UserError(f"{field}={name}: there is no such folder. Give a local folder, or a hub name as ORG/NAME.")
    go_offline_if_unreachable()
    return name


@contextmanager
def mendable(field: str, name: str | None) -> Iterator[None]:
    """Turns what transformers raises for a model that it cannot load into a UserError."""
    try:
        yield
    except (OSError, ValueError, ImportError, KeyError, TypeError) as error:
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise UserError(f"{field}={name}: {_advice(name)} ({type(error).__name__}: {reason})") from error


def find_max_length(config: ModelConfig, hf_config: Any, tokenizer: Any) -> int:
    """The window in tokens: as given, else the text model's own, else the tokenizer's, else 2,048."""
    if config.max_length is not None:
        return config.max_length
    text_config = getattr(hf_config, "text_config", None) or hf_config
    for name in LENGTH_FIELDS:
        if (length := getattr(text_config, name, None)) is not None:
            return int(length)
    limit = getattr(tokenizer, "model_max_length", None)
    return DEFAULT_MAX_LENGTH if limit is None or limit >= NO_LIMIT else int(limit)


def check_hf_generations(config: ModelConfig, tokenizer: Any, generations: Mapping[str, Generation]) -> None:
    """UserError for a task whose way to generate this model cannot run."""
    max_length = find_max_length(config, load_hf_config(config), tokenizer)
    for task, generation in generations.items():
        check_generation(generation, task=task, max_length=max_length, known=generation_options())


@cache
def generation_options() -> frozenset[str]:
    """What transformers lets a user say of generation."""
    from transformers import GenerationConfig

    return frozenset(GenerationConfig().to_dict()) - {"_from_model_config", "transformers_version"}


def pin_cpu_arithmetic() -> None:
    """Ask Intel's library for results that do not depend on the number of threads.

    It splits small matrix products differently on one thread and on two, so that a run on one process, which has all
    threads, and one on several, which have one each, would differ in their last bits. Read at its first product.
    """
    os.environ.setdefault("MKL_CBWR", "AUTO,STRICT")


def _advice(name: str | None) -> str:
    if Path(name or "").expanduser().is_dir():
        return "the folder could not be loaded"
    if go_offline_if_unreachable():
        return (
            "there is no such folder, it is not in the local cache, and the hub is out of reach or switched off. "
            "Give a local folder, or fetch it on a machine with network into the cache ($HF_HOME)"
        )
    return "the hub did not give it. Check the name and the revision; for a gated model log in with `hf auth login`"


def _check_dtypes(config: ModelConfig) -> None:
    for field, given, known in (
        ("model.dtype", config.dtype, ("auto", *DTYPES)),
        ("model.softmax_dtype", config.softmax_dtype, (None, *DTYPES)),
    ):
        if given not in known:
            names = [name for name in known if name]
            near = did_you_mean(str(given), names)
            raise UserError(f"{field}={given}: not a dtype that a model runs in.{near} Known: {', '.join(names)}.")


def check_device(name: str | None) -> None:
    """UserError for a device that torch does not know, or a GPU that is not in this machine."""
    if name is None:
        return
    import torch

    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise UserError(f"model.device={name}: not a device. Give cpu, cuda or cuda:NUMBER.") from error
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise UserError(
            f"model.device={name}: this machine has {torch.cuda.device_count()} GPUs. Give cpu, or leave it out."
        )


def _check_attention(name: str | None) -> None:
    # A name with a slash is a kernel on the hub, loaded by transformers.
    if name is None or "/" in name:
        return
    from transformers import AttentionInterface

    known = sorted({"eager", *(known for known in AttentionInterface() if "|" not in known)})
    if name not in known:
        raise UserError(
            f"model.attn_implementation={name}: not known to transformers.{did_you_mean(name, known)} "
            f"Known: {', '.join(known)}, or a kernel on the hub as ORG/NAME."
        )


def _check_architecture(config: ModelConfig) -> None:
    if load_hf_config(config).is_encoder_decoder:
        raise UserError(
            f"model.pretrained={config.pretrained}: an encoder-decoder model; only causal language models can be "
            "evaluated. Give a decoder-only model."
        )


def _with_pad_token(tokenizer: Any) -> Any:
    """lm-eval's order: the tokenizer's own, else unknown, else end-of-sequence, else a new one."""
    if tokenizer.pad_token_id is None:
        substitute = next((i for i in (tokenizer.unk_token_id, tokenizer.eos_token_id) if i is not None), None)
        if substitute is None:
            tokenizer.add_special_tokens({"pad_token": "<|pad|>"})
        else:
            tokenizer.pad_token_id = substitute
    return tokenizer
