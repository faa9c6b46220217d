"""How messages become text; chosen once per run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

ChatRenderer: TypeAlias = Callable[[list[dict[str, str]], bool], str]
"""`(messages, add_generation_prompt) -> text`; without a generation prompt the last message is continued."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How messages become text; one per run."""

    chat: ChatRenderer | None = None
    """None: plain text."""
    multiturn: bool = True
    system: str | None = None
    join: str = "lm_eval"
    """How the parts of a plain prompt are joined: lm_eval or lighteval."""
    choice_space: str = "keep"
    """White space before a choice: keep, add or strip."""
