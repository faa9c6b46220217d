"""Ways to word a prompt, and texts to word, for tests that count what is in it."""

from __future__ import annotations

from hypothesis import strategies as st

from hydra_eval.prompts.style import Style


def spoken(messages: list[dict[str, str]], add_generation_prompt: bool) -> str:
    turns = "".join(f"<{message['role']}>{message['content']}" for message in messages)
    return turns + ("<assistant>" if add_generation_prompt else "")


STYLES: dict[str, Style] = {
    "plain": Style(),
    "plain, system": Style(system="Be brief."),
    "turns": Style(chat=spoken),
    "turns, system": Style(chat=spoken, system="Be brief."),
    "one turn": Style(chat=spoken, multiturn=False),
    "one turn, system": Style(chat=spoken, multiturn=False, system="Be brief."),
}


def _texts(letters: str) -> st.SearchStrategy[str]:
    return st.text(f"{letters}:\n ", min_size=1, max_size=9).filter(lambda text: any(x in text for x in letters))


INSTRUCTIONS = _texts("XYZ")
"""Contained in none of the questions."""
QUESTIONS = st.lists(_texts("abc"), min_size=6, max_size=6)
"""A document's, and those of its examples."""
