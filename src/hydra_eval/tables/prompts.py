"""lighteval's prompts: instruction once, shots, query, joined by blank lines or as chat turns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hydra_eval.style import Style

BETWEEN = "\n\n"


def table_prompt(doc: Any, shots: Sequence[Any], style: Style) -> str:
    """The text that is sent. Under a chat template each shot is a pair of turns, or all is one user turn."""
    if style.chat is None:
        return plain_prompt(doc, shots, style.system)
    messages = chat_messages(doc, shots, style.system)
    if not style.multiturn:
        system = [message for message in messages if message["role"] == "system"]
        messages = [*system, {"role": "user", "content": plain_prompt(doc, shots, None)}]
    return style.chat(messages, True)


def plain_prompt(doc: Any, shots: Sequence[Any], system: str | None) -> str:
    head = [part for part in (system, doc.instruction) if part is not None]
    shown = [f"{bare_query(shot)} {shot.get_golds()[0].strip()}" for shot in shots]
    return BETWEEN.join([*head, *shown, bare_query(doc)])


def chat_messages(doc: Any, shots: Sequence[Any], system: str | None) -> list[dict[str, str]]:
    """The instruction opens the first user turn, without anything between."""
    users = [bare_query(one) for one in (*shots, doc)]
    users[0] = (doc.instruction or "") + users[0]
    answers = [shot.get_golds()[0] for shot in shots]
    turns = [
        turn
        for query, answer in zip(users, answers, strict=False)
        for turn in ({"role": "user", "content": query}, {"role": "assistant", "content": answer})
    ]
    opening = [] if system is None else [{"role": "system", "content": system}]
    return [*opening, *turns, {"role": "user", "content": users[-1]}]


def bare_query(doc: Any) -> str:
    """The query without the instruction it may begin with."""
    query: str = doc.query
    if doc.instruction is None or not query.startswith(doc.instruction):
        return query
    return query[len(doc.instruction) :].strip()
