"""Where a model comes from: folder or hub, checked before anything large is read. No weights here."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hydra_eval.config.schema import ModelConfig
from hydra_eval.errors import UserError, did_you_mean, known_names
from hydra_eval.hub import go_offline_if_unreachable
from hydra_eval.models.architecture import check_architecture, check_decoder_places
from hydra_eval.models.replies import check_generation, end_ids
from hydra_eval.models.thinking import check_marker
from hydra_eval.models.trial import check_trial, trial_model
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
    _check_gguf(config)
    check_architecture(config, load_hf_config(config))
    from transformers import AutoTokenizer

    own = config.tokenizer is None
    field, name = ("model.pretrained", config.pretrained) if own else ("model.tokenizer", config.tokenizer)
    options: dict[str, Any] = {"trust_remote_code": config.trust_remote_code}
    if config.add_bos_token is not None:
        options["add_bos_token"] = config.add_bos_token
    if own:
        options |= own_place(config)
    with mendable(field, name):
        tokenizer = AutoTokenizer.from_pretrained(find_source(name, field=field), **options)
    return _with_pad_token(tokenizer)


def load_hf_config(config: ModelConfig) -> Any:
    """The architecture's config."""
    return load_config_of(config.pretrained, config, field="model.pretrained", **own_place(config))


def load_config_of(name: str | None, config: ModelConfig, *, field: str, **place: Any) -> Any:
    """The config of the weights that `field` names."""
    from transformers import AutoConfig

    with mendable(field, name):
        source = find_source(name, field=field)
        return AutoConfig.from_pretrained(source, trust_remote_code=config.trust_remote_code, **place)


def own_place(config: ModelConfig) -> dict[str, Any]:
    """Which state and part of `pretrained` is meant."""
    place: dict[str, Any] = {"revision": config.revision or "main", "subfolder": config.subfolder}
    return place if config.gguf_file is None else {**place, "gguf_file": config.gguf_file}


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


def find_reply_window(config: ModelConfig, hf_config: Any, tokenizer: Any) -> int:
    """What a reply must be shorter than: the window that it shares with its prompt; an encoder-decoder has none."""
    return NO_LIMIT if hf_config.is_encoder_decoder else find_max_length(config, hf_config, tokenizer)


def check_hf_generations(config: ModelConfig, tokenizer: Any, generations: Mapping[str, Generation]) -> None:
    """UserError for a task whose way to generate this model cannot run."""
    hf_config = load_hf_config(config)
    tokens = int(hf_config.get_text_config().vocab_size)
    if config.adapter is not None:  # embeddings may grow to those that it brings
        tokens = max(tokens, len(tokenizer))
    check_token_ids(config, tokens)
    if not generations:
        return
    window = find_reply_window(config, hf_config, tokenizer)
    own = load_generation_config(config, hf_config)
    model = trial_model(hf_config, own, tokens)
    for task, generation in generations.items():
        check_generation(generation, task=task, max_length=window, known=generation_options())
        check_decoder_places(generation, hf_config, task=task)
        check_trial(model, generation, end_ids(generation, own.eos_token_id, tokenizer), task=task)


def load_generation_config(config: ModelConfig, hf_config: Any) -> Any:
    """As transformers finds it with the weights; lengths come with each request."""
    from transformers import GenerationConfig

    source, place = find_source(config.pretrained, field="model.pretrained"), own_place(config)
    try:
        own = GenerationConfig.from_pretrained(source, revision=place["revision"], subfolder=place["subfolder"])
    except OSError:  # most base models have none
        own = GenerationConfig.from_model_config(hf_config)
    own.max_length = own.max_new_tokens = None
    return own


def check_token_ids(config: ModelConfig, tokens: int) -> None:
    """UserError for ids that the model does not have."""
    check_marker(config.think_end_token, tokens)
    prefix = config.prefix_token_id
    if prefix is not None and not 0 <= prefix < tokens:
        raise UserError(f"model.prefix_token_id={prefix}: the model has {tokens} tokens; ids are 0 to {tokens - 1}.")


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


def check_device(name: str | None, *, field: str = "model.device") -> None:
    """UserError for a device that torch does not know, or a GPU that is not in this machine."""
    if name is None:
        return
    import torch

    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise UserError(f"{field}={name}: not a device. Give cpu, cuda or cuda:NUMBER.") from error
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise UserError(
            f"{field}={name}: this machine has {torch.cuda.device_count()} GPUs. Give cpu, or leave it out."
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


def _check_gguf(config: ModelConfig) -> None:
    if config.gguf_file is None:
        return
    field, folder = f"model.gguf_file={config.gguf_file}", Path(config.pretrained or "").expanduser()
    if find_spec("gguf") is None:
        raise UserError(f"{field}: needs a package that is not installed: pip install gguf.")
    if folder.is_dir() and not (folder / config.subfolder / config.gguf_file).is_file():
        held = sorted(str(file.relative_to(folder)) for file in folder.rglob("*.gguf"))
        near = did_you_mean(config.gguf_file, held)
        raise UserError(f"{field}: not in {folder}.{near} Files there: {known_names(held) or 'none'}.")


def _with_pad_token(tokenizer: Any) -> Any:
    """lm-eval's order: the tokenizer's own, else unknown, else end-of-sequence, else a new one."""
    if tokenizer.pad_token_id is None:
        substitute = next((i for i in (tokenizer.unk_token_id, tokenizer.eos_token_id) if i is not None), None)
        if substitute is None:
            tokenizer.add_special_tokens({"pad_token": "<|pad|>"})
        else:
            tokenizer.pad_token_id = substitute
    return tokenizer
