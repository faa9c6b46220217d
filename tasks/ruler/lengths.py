"""Rows of a given length: as much filler as fits before the reply, counted by the run's own tokenizer."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from hydra_eval.config.schema import ModelConfig
from hydra_eval.errors import UserError

log = logging.getLogger(__name__)

CLOSE_ENOUGH = 0.98
"""Share of the length from which a row is not made longer."""

Count = Callable[[str], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One row before its tokens are counted."""

    input: str
    outputs: Sequence[str]
    gen_prefix: str
    more: Mapping[str, Any] = field(default_factory=dict)
    """Further columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How one row is made."""

    make: Callable[[int, random.Random], Sample]
    """`(units of filler, generator) -> sample`."""
    reply_tokens: int
    """Room for the reply."""
    least: int = 1
    """Units of filler without which there is no row."""
    most: int | None = None
    """Units of filler that there are."""
    delimiter: str = " "
    """Between `input` and `gen_prefix`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """A sample that fits."""

    sample: Sample
    units: int
    tokens: int
    """Of prompt and reply."""


def rows_of(name: str, recipe_for: Callable[[int, int], Recipe | None], metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The split `test`: every length's rows, in order.

    `recipe_for(length, index)` gives None where there are no more; `metadata` is the task's, with the model's settings.
    Same seed, lengths and tokenizer, same rows. Raises UserError for a length that leaves no room.
    """
    import datasets

    count = counter(
        *(metadata.get(key) for key in ("pretrained", "tokenizer", "revision", "subfolder", "trust_remote_code"))
    )
    rows: list[dict[str, Any]] = []
    for length in metadata["max_seq_lengths"]:
        wanted = (recipe_for(length, index) for index in range(metadata["samples"]))
        recipes = [recipe for recipe in wanted if recipe is not None]
        found = _rows(recipes, count, length=length, key=f"{metadata['seed']}/{name}/{length}")
        where = metadata.get("config_source", name)
        if not found:
            raise UserError(f"{where}: no sample fits into {length} tokens; raise metadata.max_seq_lengths.")
        if len(found) < len(recipes):
            log.warning("%s: %d samples do not fit into %d tokens.", where, len(recipes) - len(found), length)
        rows += found
    return {"test": datasets.Dataset.from_list(rows)}


def _rows(recipes: Sequence[Recipe], count: Count, *, length: int, key: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    units = 1
    for index, recipe in enumerate(recipes):
        found = fit(recipe, count, length=length, key=f"{key}/{index}", units=units)
        if found is not None:
            units = found.units
            rows.append(_row(found, index, length))
    return rows


def _row(found: Fit, index: int, length: int) -> dict[str, Any]:
    sample = found.sample
    return {
        "index": index,
        "input": sample.input,
        "outputs": list(sample.outputs),
        "length": found.tokens,
        "max_length": length,
        "gen_prefix": sample.gen_prefix,
        **sample.more,
    }


def fit(recipe: Recipe, count: Count, *, length: int, key: str, units: int) -> Fit | None:
    """A sample of nearly `length` tokens and never more; None where the shortest is too long.

    Starts from `units` of filler and goes by their share of the tokens, between what fits and what does not.
    """
    low, high = recipe.least, (recipe.most or length) + 1
    units = min(max(units, low), high - 1)
    best = None
    while low <= units < high:
        sample = recipe.make(units, random.Random(key))
        tokens = count(f"{sample.input}{recipe.delimiter}{sample.gen_prefix}") + recipe.reply_tokens
        step = int((length - tokens) * units / tokens)
        if tokens <= length:
            best, low = Fit(sample=sample, units=units, tokens=tokens), units + 1
            if tokens >= CLOSE_ENOUGH * length:
                break
            units = min(units + max(step, 1), high - 1)
        else:
            high = units
            units = max(units + min(step, -1), low)
    return best


@cache
def counter(
    pretrained: str | None,
    tokenizer: str | None = None,
    revision: str | None = None,
    subfolder: str | None = None,
    trust_remote_code: bool | None = None,
) -> Count:
    """Tokens of a text, special ones included; blank-separated words where the model has no tokenizer (model=dummy)."""
    if not (pretrained or tokenizer):
        log.warning("ruler: the model has no tokenizer, so lengths are counted in words.")
        return lambda text: len(text.split())
    from hydra_eval.models.source import load_hf_tokenizer

    options: Any = {"revision": revision, "subfolder": subfolder or "", "trust_remote_code": bool(trust_remote_code)}
    loaded = load_hf_tokenizer(ModelConfig(pretrained=pretrained, tokenizer=tokenizer, **options))
    return lambda text: len(loaded(text, verbose=False)["input_ids"])
