"""What is known of the values at one place of a task's rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

LENGTH = 4
"""Items of every list: as many as an index may choose from."""


@dataclass(eq=False, slots=True)
class Shape:
    """What is known of the values at one place."""

    name: str
    kinds: set[str] = field(default_factory=set)
    """text, int, float, bool, list, mapping, indexed, sliced, sized: as what it was used."""
    keys: dict[str, Shape] = field(default_factory=dict)
    """As a mapping."""
    item: Shape | None = None
    """As a list, or as a text that is split."""
    parent: Shape | None = None
    """The list that this is an item of."""
    same_as: Shape | None = None
    """Another place, whose value it is compared with."""
    inner: Shape | None = None
    """What a text holds that is parsed."""
    notation: str | None = None
    """How it is written there: json or python."""
    separator: str | None = None
    """Where a text is split."""
    literals: list[Any] = field(default_factory=list)
    """What it is compared with, or looked up among."""
    is_key: bool = False
    """It is looked up among them, and must be one."""
    substrings: list[str] = field(default_factory=list)
    """What is looked for in it."""
    patterns: list[str] = field(default_factory=list)
    """Regular expressions that search it."""
    parts: tuple[Shape, ...] = ()
    """What it was made of, and what is of the same kind."""
    prefix: str | None = None
    """What stands before its only part."""
    length: int = LENGTH
    """Items it needs as a list, or as a split text."""
    member_of: Shape | None = None
    """A list that holds it."""
    index_of: Shape | None = None
    """A list that it indexes."""
    limit: int | None = None
    """As an index: how many there are to choose from."""

    def key(self, name: str) -> Shape:
        self.kinds.add("mapping")
        return self.keys.setdefault(name, Shape(f"{self.name}.{name}"))

    def items(self) -> Shape:
        if self.item is None:
            self.item = Shape(f"{self.name}[]", parent=self)
        return self.item

    def listed(self) -> Shape:
        self.marked("list")
        return self.items()

    def sliced(self) -> Shape:
        """A part of it: of the same kind, with values of its own."""
        self.kinds.add("sliced")
        return Shape(f"{self.name}[:]", item=self.items(), parts=(self,))

    def prefixed(self, prefix: str) -> Shape:
        """Its text with another before it."""
        return Shape(f"{prefix}{self.name}", prefix=prefix, parts=(self,))

    def holds(self, notation: str) -> Shape:
        self.notation = notation
        if self.inner is None:
            self.inner = Shape(f"{self.name}!")
        return self.inner

    def marked(self, kind: str) -> None:
        self.kinds.add(kind)
        for part in self.parts:
            part.marked(kind)

    def equalled(self, other: Shape) -> None:
        """Two places are compared: one may be a member of the list that the other stands for."""
        if other.parent is not None and self.parent is not other.parent:
            self.member_of = other.parent
        elif self.parent is not None and self.parent is not other.parent:
            other.member_of = self.parent
        elif self.parent is None:
            self.same_as = other

    def compared(self, value: Any) -> None:
        if self.prefix and isinstance(value, str) and value.startswith(self.prefix):
            self.parts[0].compared(value.removeprefix(self.prefix))
        if value not in (None, "") and value not in self.literals and len(self.literals) < 12:
            self.literals.append(value)

    def searched(self, text: str) -> None:
        if text and text not in self.substrings and len(self.substrings) < 12:
            self.substrings.append(text)

    @property
    def is_list(self) -> bool:
        """What is used as a text is one, also where its letters are looked at one by one."""
        if "text" in self.kinds:
            return False
        return "list" in self.kinds or ("indexed" in self.kinds and "sliced" not in self.kinds)
