"""How messages become text; chosen once per run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

Turns: TypeAlias = list[dict[str, str]]
"""Chat messages: mappings with `role` and `content`."""
ChatRenderer: TypeAlias = Callable[[Turns, bool], str]
"""`(messages, add_generation_prompt) -> text`; without a generation prompt the last message is continued."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How messages become text; one per run."""

    chat: ChatRenderer | None = None
    """None: plain text."""
    multiturn: bool = True
    system: str | None = None
    join: str = "lm_eval"
    """How the parts of a prompt are joined: lm_eval or lighteval."""
    choice_space: str = "keep"
    """White space before a choice: keep, add or strip."""

    def speak(self, turns: Turns) -> str:
        """The turns under the chat template, which opens the assistant's turn or continues one that is there."""
        assert self.chat is not None
        return self.chat(turns, turns[-1]["role"] != "assistant")
