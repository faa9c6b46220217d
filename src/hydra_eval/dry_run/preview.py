"""One document's requests exactly as the model would get them: as text, as token ids, and which of those are scored."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from hydra_eval.dry_run.visible import head_and_tail, marked_ids, pieces, visible
from hydra_eval.errors import counted
from hydra_eval.models.encoding import Encoder, Ids, encode_requests
from hydra_eval.models.replies import all_stops
from hydra_eval.records import Instance, RequestKind
from hydra_eval.sample_file import as_plain

Section: TypeAlias = tuple[str, str]
"""A heading and the text below it."""
LAST = 8
"""Tokens of a prompt that are shown with their texts: where it ends is where most faults are."""
MOST = 100
"""Scored tokens that are shown with their texts: a text that is read whole has thousands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """One request."""

    instance: Instance
    context: Ids
    scored: Ids
    cut_tokens: int
    stop: tuple[str, ...]
    """What ends a reply; the last is the tokenizer's own end-of-sequence, where it has one."""
    repeats_prompt: bool
    """The prompt is that of the request before."""

    @property
    def title(self) -> str:
        return f"request {self.instance.key.request} ({self.instance.kind.value})"


def previews(instances: Sequence[Instance], encoder: Encoder) -> list[Preview]:
    """Every request of one document, without its repeats."""
    first = [instance for instance in instances if instance.key.repeat == 0]
    found: list[Preview] = []
    for instance, sent in zip(first, encode_requests(first, encoder), strict=True):
        end = len(sent.ids) - sent.scored
        found.append(
            Preview(
                instance=instance,
                context=sent.ids[:end],
                scored=sent.ids[end:],
                cut_tokens=sent.cut_tokens,
                stop=all_stops(instance.generation, _eos_text(encoder.tokenizer)) if instance.generation else (),
                repeats_prompt=bool(found) and instance.context == found[-1].instance.context,
            )
        )
    return found


def sections(preview: Preview, tokenizer: Any, *, lines: int | None = None) -> Iterator[Section]:
    """The request for a person's eye, each text cut to `lines` lines; no prompt twice in a row."""
    instance, title = preview.instance, preview.title
    if not preview.repeats_prompt and instance.kind is not RequestKind.ROLLING:
        cut = f", {counted(preview.cut_tokens, 'more is cut', 'more are cut')}" if preview.cut_tokens else ""
        yield (
            f"{title}: prompt, {counted(len(preview.context), 'token')}{cut}",
            _clipped(visible(instance.context), lines),
        )
    if instance.continuation is not None:
        yield (
            f"{title}: scored, {counted(len(preview.scored), 'token')}",
            _clipped(visible(instance.continuation), lines),
        )
    if instance.generation is not None:
        options = json.dumps(instance.arguments[1], ensure_ascii=False, indent=2, default=as_plain)
        yield f"{title}: generation", options
        yield f"{title}: stops", "  ".join(map(repr, preview.stop)) or "(none)"
    yield f"{title}: ids", "\n".join(_clipped(text, lines) for text in _tokens(preview, tokenizer))


def _tokens(preview: Preview, tokenizer: Any) -> Iterator[str]:
    """All ids, then the last of the prompt and those that are scored beside their texts."""
    context = () if preview.repeats_prompt else preview.context
    yield marked_ids(context, preview.scored)
    if context:
        yield ("… " if len(context) > LAST else "") + pieces(context[-LAST:], tokenizer)
    if preview.scored:
        yield pieces(preview.scored[:MOST], tokenizer) + ("  …" if len(preview.scored) > MOST else "")


def as_json(preview: Preview, tokenizer: Any) -> dict[str, Any]:
    """The request for a file, whole; of a prompt that the request before has too, only how many tokens it is."""
    instance, new = preview.instance, not preview.repeats_prompt
    generation = {"stop": list(preview.stop), "room": instance.generation.max_new_tokens} if instance.generation else {}
    return {
        "request": instance.key.request,
        "kind": instance.kind.value,
        "prompt": instance.context if new else None,
        "prompt_tokens": len(preview.context),
        "prompt_ids": list(preview.context) if new else None,
        "prompt_pieces": _texts(preview.context, tokenizer) if new else None,
        "scored": instance.continuation,
        "scored_ids": list(preview.scored),
        "scored_pieces": _texts(preview.scored, tokenizer),
        "cut_tokens": preview.cut_tokens,
        **generation,
    }


def _texts(ids: Ids, tokenizer: Any) -> list[str]:
    return [str(tokenizer.decode([token])) for token in ids]


def _clipped(text: str, lines: int | None) -> str:
    return "\n".join(head_and_tail(text.split("\n"), lines)) or "(empty)"


def _eos_text(tokenizer: Any) -> str:
    eos_id = tokenizer.eos_token_id
    return "" if eos_id is None else str(tokenizer.decode([eos_id]))
