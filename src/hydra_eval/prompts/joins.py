"""The parts of a prompt joined as lm-eval joins them, or as lighteval does: to plain text, or to chat turns.

Semantics: lm-eval 0.4.13, `Message`, `multiturn_to_singleturn`, `maybe_delimit`; lighteval 0.13, `PromptManager`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from hydra_eval.prompts.style import Turns

BLANK_LINE = "\n\n"


class Wording(Protocol):
    """One prompt, not yet rendered."""

    def text(self) -> str:
        """Plain text."""

    def turns(self, *, multiturn: bool) -> Turns:
        """Chat messages; without `multiturn` all that the user and the assistant say is one user turn. A last turn of
        the assistant is to be continued."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn. `delimiter` stands after it in plain text only."""

    role: str
    content: str
    delimiter: str = ""


@dataclass(frozen=True, slots=True)
class LmEvalWording:
    """Messages, each with what lm-eval puts after it in plain text."""

    messages: Sequence[Message]

    def text(self) -> str:
        return "".join(message.content + message.delimiter for message in self.messages)

    def turns(self, *, multiturn: bool) -> Turns:
        messages = self.messages if multiturn else self._as_one_turn()
        return [_turn(message.role, message.content) for message in messages]

    def _as_one_turn(self) -> list[Message]:
        """All turns between the system message and a last assistant prefix as one, delimiters kept inside."""
        messages = list(self.messages)
        system = messages[:1] if messages[0].role == "system" else []
        turns = messages[len(system) :]
        tail = turns[-1:] if turns[-1].role == "assistant" else []
        turns = turns[: len(turns) - len(tail)]
        text = "".join(turn.content + turn.delimiter for turn in turns[:-1]) + turns[-1].content
        return [*system, Message("user", text), *tail]


@dataclass(frozen=True, slots=True, kw_only=True)
class LightevalWording:
    """Parts that stand apart by blank lines; the instruction goes before everything that is asked, once."""

    system: str | None
    instruction: str | None
    shots: Sequence[tuple[str, str | None]]
    """Query and answer of each example; None: the query holds its answer."""
    query: str
    prefix: str | None = None
    """What the answer begins with. lighteval has no such thing: it stands as lm-eval has it."""

    def text(self) -> str:
        head = [] if self.system is None else [self.system]
        return BLANK_LINE.join([*head, *self._asked(), join_with(" ", self.query, self.prefix)])

    def turns(self, *, multiturn: bool) -> Turns:
        """The instruction opens the first user turn, without anything between."""
        head = [] if self.system is None else [_turn("system", self.system)]
        tail = [_turn("assistant", self.prefix)] if self.prefix else []
        if not multiturn:
            return [*head, _turn("user", BLANK_LINE.join([*self._asked(), self.query])), *tail]
        turns = [turn for query, answer in self.shots for turn in _pair(query, answer)] + [_turn("user", self.query)]
        turns[0] = _turn("user", (self.instruction or "") + turns[0]["content"])
        return [*head, *turns, *tail]

    def _asked(self) -> list[str]:
        """Instruction and examples."""
        told = [] if self.instruction is None else [self.instruction]
        return told + [query if answer is None else f"{query} {answer.strip()}" for query, answer in self.shots]


def bare_query(query: str, instruction: str | None) -> str:
    """The query without the instruction that it may begin with."""
    if instruction is None or not query.startswith(instruction):
        return query
    return query[len(instruction) :].strip()


def join_with(delimiter: str, first: str | None, second: str | None) -> str:
    """Both parts, with the delimiter between them only where neither has white space at the seam."""
    if not first or not second:
        return first or second or ""
    return first + (delimiter if needs_delimiter(first, second) else "") + second


def needs_delimiter(first: str, second: str) -> bool:
    return bool(first) and not (first[-1].isspace() or second[0].isspace())


def _turn(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


def _pair(query: str, answer: str | None) -> Turns:
    return [_turn("user", query), *([] if answer is None else [_turn("assistant", answer)])]
