"""The prompts of an entry of a TASKS_TABLE: always joined as lighteval joins them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hydra_eval.prompts.joins import LightevalWording, bare_query
from hydra_eval.prompts.style import Style, Turns


def table_prompt(doc: Any, shots: Sequence[Any], style: Style) -> str:
    """The text that is sent. Under a chat template each example is a pair of turns, or all is one user turn."""
    if style.chat is None:
        return wording_of(doc, shots, style.system).text()
    return style.speak(table_messages(doc, shots, style))


def table_messages(doc: Any, shots: Sequence[Any], style: Style) -> Turns:
    """The same prompt as chat messages, for a model that takes those."""
    return wording_of(doc, shots, style.system).turns(multiturn=style.multiturn)


def wording_of(doc: Any, shots: Sequence[Any], system: str | None) -> LightevalWording:
    return LightevalWording(
        system=system,
        instruction=doc.instruction,
        shots=[(bare_query(shot.query, shot.instruction), shot.get_golds()[0]) for shot in shots],
        query=bare_query(doc.query, doc.instruction),
    )
