"""Rows made up to fit a task: the columns and types that its templates and hooks use, in the hub's layout."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .catalogue import TaskFile
from .patterns import example
from .shape import Shape

ROWS = 14
"""Of each split."""
RICH = (
    "Zoë asked “why?”",
    "a {brace} and {{two}}",
    "she said \"yes\", he said 'no'",
    "first line\nsecond line",
    "costs $5 \\ 100%",
    "東京は晴れ ☂",
    "  blanks around  ",
    "",
    "ends in a tab\t",
    "1, 2; 3: [4]",
)
PLAIN = ("a red apple", "two green pears", "the old house", "seven blue birds", "a cold night", "my left hand")


@dataclass(slots=True)
class Writer:
    """Values for one row. `rich`: with quotes, braces, line ends, other scripts, and now and then nothing."""

    split: str
    number: int
    rich: bool = True
    placed: dict[int, Any] = field(default_factory=dict)
    """Shape → the value written for it last."""

    def value(self, shape: Shape, place: int = 0) -> Any:
        written = self._value(shape, place)
        self.placed[id(shape)] = written
        return written

    def _value(self, shape: Shape, place: int) -> Any:
        if shape.notation:
            return _written_out(self.value(shape.inner, place), shape.notation)
        if shape.separator is not None and shape.item is not None:
            return shape.separator.join(str(self.value(shape.item, n)) for n in range(shape.length))
        if shape.keys:
            return {key: self.value(inner, place) for key, inner in shape.keys.items()}
        if shape.is_list:
            return [self.value(shape.items(), place * shape.length + n) for n in range(shape.length)]
        return self._scalar(shape, place)

    def _scalar(self, shape: Shape, place: int) -> Any:
        if "text" not in shape.kinds and (made := self._number(shape, place)) is not None:
            return made
        found = self._one_of_others(shape, place)
        if found is not None:
            return found
        if shape.kinds & {"int", "float"}:
            return str(self._chance(shape, place) % 2)
        if shape.patterns:
            return " ".join(example(pattern) for pattern in shape.patterns)
        return self._text(shape, place)

    def _number(self, shape: Shape, place: int) -> Any:
        if "bool" in shape.kinds:
            return bool(self._chance(shape, place) % 2)
        if "int" in shape.kinds:
            options = shape.limit or self._length_of(shape.index_of) or 2
            known = [literal for literal in shape.literals if isinstance(literal, int)]
            return (
                known[self.number % len(known)] if known and not shape.limit else self._chance(shape, place) % options
            )
        return 1.0 + self._chance(shape, place) % 2 if "float" in shape.kinds else None

    def _one_of_others(self, shape: Shape, place: int) -> Any:
        """A member of a list of this row, or one of what the task compares it with."""
        others = self.placed.get(id(shape.member_of))
        if isinstance(others, list) and others:
            return others[self._chance(shape, place) % len(others)]
        if shape.same_as is not None and self.number % 2:
            return self.placed.get(id(shape.same_as))
        if not shape.literals or (self.rich and not shape.is_key and self.number % 5 == 4):
            return None
        return shape.literals[(self.number + place) % len(shape.literals)]

    def _length_of(self, shape: Shape | None) -> int | None:
        listed = self.placed.get(id(shape))
        return len(listed) if isinstance(listed, list) else None

    def _text(self, shape: Shape, place: int) -> str:
        texts = RICH if self.rich else PLAIN
        text = texts[(self._chance(shape, place) + self.number) % len(texts)]
        if shape.substrings:
            text = f"{shape.substrings[self.number % len(shape.substrings)]} {text}"
        if not text and (place or self.number < 2):  # lm-eval looks at the first letter of the first choices
            text = "something"
        return f"{text} {shape.name.rpartition('.')[2]}{self.number}{place or ''}" if text else ""

    def _chance(self, shape: Shape, place: int) -> int:
        return hashlib.sha256(f"{self.split}|{self.number}|{shape.name}|{place}".encode()).digest()[0]


def _written_out(value: Any, notation: str) -> str:
    return json.dumps(value, ensure_ascii=False) if notation == "json" else repr(value)


def make_row(root: Shape, split: str, number: int, *, rich: bool) -> dict[str, Any]:
    """One row. Written twice: the second time what points to another column knows it."""
    writer = Writer(split, number, rich)
    for _ in range(2):
        row = {name: writer.value(shape) for name, shape in root.keys.items()}
    return row or {"text": f"row {number}"}


def write_data_set(task: TaskFile, rows: Mapping[str, Sequence[Mapping[str, Any]]], root: Path) -> dict[str, Path]:
    """Split → file, in the folder where the hub's layout has it."""
    path, subset = task.data_set
    folder = root / path / subset
    folder.mkdir(parents=True, exist_ok=True)
    files = {}
    for split, of_split in rows.items():
        files[split] = folder / f"{split}.jsonl"
        lines = [json.dumps(row, ensure_ascii=False) for row in of_split]
        files[split].write_text("\n".join(lines) + "\n", encoding="utf-8")
    return files


def make_rows(task: TaskFile, root: Shape, *, rich: bool, count: int = ROWS) -> dict[str, list[dict[str, Any]]]:
    """Rows of every split that the task names."""
    return {split: [make_row(root, split, n, rich=rich) for n in range(count)] for split in task.splits}
