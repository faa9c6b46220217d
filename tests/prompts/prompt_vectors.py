"""Prompts as lighteval's own PromptManager (0.13) joins them, for entries of a TASKS_TABLE and for YAML tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

Row = Mapping[str, Any]


class Vector(NamedTuple):
    """Rows have `query`, `golds` and `told`, the instruction or None."""

    asked: Row
    shots: tuple[Row, ...]
    system: str | None
    text: str
    turns: tuple[tuple[str, str], ...]
    """Role and content."""


def row(query: str, *golds: str, told: str | None = None) -> Row:
    return {"query": query, "golds": list(golds), "told": told}


TOLD = "INSTR\n\n"
ASKED = row(f"{TOLD}Q: 3\nA:", " z", told=TOLD)
SHOTS = (row(f"{TOLD}Q: 1\nA:", " x ", told=TOLD), row("Q: 2\nA:", " y"))
SHOWN = "INSTR\n\n\n\nQ: 1\nA: x\n\nQ: 2\nA: y\n\nQ: 3\nA:"
SPOKEN = (
    ("user", "INSTR\n\nQ: 1\nA:"),
    ("assistant", " x "),
    ("user", "Q: 2\nA:"),
    ("assistant", " y"),
    ("user", "Q: 3\nA:"),
)
ALONE = ("user", "INSTR\n\nQ: 3\nA:")
VECTORS: dict[str, Vector] = {
    "shots": Vector(ASKED, SHOTS, None, SHOWN, SPOKEN),
    "system": Vector(ASKED, SHOTS, "SYS", f"SYS\n\n{SHOWN}", (("system", "SYS"), *SPOKEN)),
    "no shots": Vector(ASKED, (), None, "INSTR\n\n\n\nQ: 3\nA:", (ALONE,)),
    "no shots, system": Vector(ASKED, (), "SYS", "SYS\n\nINSTR\n\n\n\nQ: 3\nA:", (("system", "SYS"), ALONE)),
    "empty system, no instruction": Vector(
        row(f"{TOLD}Q: 3\nA:", " z"), (), "", "\n\nINSTR\n\nQ: 3\nA:", (("system", ""), ALONE)
    ),
    "empty instruction": Vector(row("  Q: 3\nA: ", " z", told=""), (), None, "\n\nQ: 3\nA:", (("user", "Q: 3\nA:"),)),
    "several golds": Vector(
        row("Q: 3\nA: ", "z"),
        (row("Q: 1\nA: ", "x1", "x2"),),
        None,
        "Q: 1\nA:  x1\n\nQ: 3\nA: ",
        (("user", "Q: 1\nA: "), ("assistant", "x1"), ("user", "Q: 3\nA: ")),
    ),
}
