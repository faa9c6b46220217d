"""Values that note what a task's templates and hooks do with them: what is indexed, iterated, compared, parsed.

A probe is a string, so that whatever takes a string takes it. Everything else done to it tells what it should have
been: a list, a mapping with such keys, a number, JSON. `Shape` collects that for one place in a row.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from .shape import LENGTH, Shape


class Probe(str):
    """One value of one row, in one run: the run decides how comparisons turn out."""

    shape: Shape
    place: tuple[int, int]
    """Run, row."""

    def __new__(cls, shape: Shape, place: tuple[int, int], text: str | None = None) -> Probe:
        probe = super().__new__(cls, f"{shape.name} {place[1]}" if text is None else text)
        probe.shape, probe.place = shape, place
        return probe

    def of(self, shape: Shape, text: str | None = None) -> Probe:
        return Probe(shape, self.place, text)

    def chance(self, salt: Any) -> int:
        """0 … 255, by place and run alone."""
        return hashlib.sha256(f"{self.shape.name}|{self.place}|{salt}".encode()).digest()[0]

    # As a list or a mapping.

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return self.of(self.shape.sliced(), str(self))
        if isinstance(key, Probe) and "mapping" not in self.shape.kinds:
            key.shape.marked("int")
            key.shape.index_of = self.shape
            return self.of(self.shape.listed())
        if isinstance(key, str):
            return self.of(self.shape.key(str(key)))
        self.shape.kinds.add("indexed")
        self.shape.length = max(self.shape.length, min(key, 20) + 1)
        return self.of(self.shape.items())

    def __iter__(self) -> Iterator[Any]:
        items = self.shape.listed()
        return iter([self.of(items, f"{items.name} {number}") for number in range(LENGTH)])

    def __len__(self) -> int:
        self.shape.kinds.add("sized")
        return LENGTH

    def __contains__(self, value: Any) -> bool:
        if isinstance(value, Probe):
            value.shape.member_of = self.shape
        elif isinstance(value, str):
            self.shape.searched(value)
        else:
            self.shape.listed().kinds.add("int")
        return self.chance(value) < 128

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name in ("shape", "place"):
            raise AttributeError(name)
        return self.of(self.shape.key(name))

    def get(self, key: str, default: Any = None) -> Any:
        return self[key]

    def keys(self) -> list[str]:
        for name in list(self.shape.keys) or ["first", "second"]:
            self.shape.key(name)
        return list(self.shape.keys)

    def values(self) -> list[Any]:
        return [self[key] for key in self.keys()]

    def items(self) -> list[tuple[str, Any]]:
        return [(key, self[key]) for key in self.keys()]

    def index(self, value: Any, *rest: Any) -> int:
        if isinstance(value, Probe):
            self.shape.kinds.add("list")
            value.shape.member_of = self.shape
        else:
            self.shape.kinds.add("text")
            self.shape.searched(str(value))
        return self.chance(value) % LENGTH

    def copy(self) -> list[Any]:
        return list(self)

    tolist = copy

    def sort(self, *args: Any, **kwargs: Any) -> None:
        self.shape.listed()

    append = extend = pop = remove = reverse = insert = sort

    # As a number.

    def __bool__(self) -> bool:
        return self.place[0] == 0 or self.chance("bool") < 192

    def __index__(self) -> int:
        self.shape.marked("int")
        return self.chance("int") % 2

    __int__ = __index__

    def __float__(self) -> float:
        self.shape.marked("float")
        return float(self.chance("int") % 3)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, list):
            return [*self, *other]
        if isinstance(other, Probe):
            return self.of(Shape(f"{self.shape.name}+", parts=(self.shape, other.shape)), str(self) + str(other))
        return str(self) + other if isinstance(other, str) else int(self) + other

    def __radd__(self, other: Any) -> Any:
        if isinstance(other, list):
            return [*other, *self]
        if isinstance(other, str):
            return self.of(self.shape.prefixed(other), other + str(self))
        return other + int(self)

    def __sub__(self, other: Any) -> Any:
        return int(self) - (int(other) if isinstance(other, Probe) else other)

    def __rsub__(self, other: Any) -> Any:
        return other - int(self)

    def __lt__(self, other: Any) -> Any:
        return super().__lt__(other) if isinstance(other, str) else float(self) < other

    def __le__(self, other: Any) -> Any:
        return super().__le__(other) if isinstance(other, str) else float(self) <= other

    def __gt__(self, other: Any) -> Any:
        return super().__gt__(other) if isinstance(other, str) else float(self) > other

    def __ge__(self, other: Any) -> Any:
        return super().__ge__(other) if isinstance(other, str) else float(self) >= other

    # Comparisons.

    def __eq__(self, other: Any) -> bool:
        if isinstance(other, Probe):
            if self.shape is other.shape:
                return str.__eq__(self, other)
            self.shape.equalled(other.shape)
            return self.chance(other.shape.name) < 128
        if isinstance(other, str | bool | int):
            self.shape.compared(other)
            if not isinstance(other, str):
                self.shape.marked("bool" if isinstance(other, bool) else "int")
            return self.chance(other) < 128
        return False

    def __ne__(self, other: Any) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return str.__hash__(self)

    # As a text.

    def split(self, sep: str | None = None, maxsplit: int = -1) -> list[Any]:
        self.shape.kinds.add("text")
        self.shape.separator = " " if sep is None else str(sep)
        parts = self.shape.items()
        return [self.of(parts, f"{parts.name} {number}") for number in range(LENGTH)]

    rsplit = split

    def partition(self, sep: str) -> tuple[Any, str, Any]:
        first, second, *_ = self.split(sep)
        return first, sep, second

    rpartition = partition


SEARCHES = ("startswith", "endswith", "find", "replace", "count")


def _texted(name: str) -> Any:
    """A method of str that marks a text; its result is still the same value as far as comparisons go."""
    method = getattr(str, name)

    def marked(self: Probe, *args: Any) -> Any:
        self.shape.marked("text")
        if name in SEARCHES and isinstance(args[0], str):
            self.shape.searched(str(args[0]))
        result = method(self, *args)
        return self.of(self.shape, result) if isinstance(result, str) else result

    return marked


for _name in (
    "strip",
    "lstrip",
    "rstrip",
    "lower",
    "upper",
    "title",
    "capitalize",
    "replace",
    "casefold",
    "removeprefix",
):
    setattr(Probe, _name, _texted(_name))
for _name in ("removesuffix", "startswith", "endswith", "isdigit", "isupper", "splitlines", "encode", "find", "count"):
    setattr(Probe, _name, _texted(_name))


class ProbeRow(dict[str, Any]):
    """A row that has every column it is asked for."""

    def __init__(self, root: Shape, place: tuple[int, int]) -> None:
        super().__init__({name: Probe(shape, place) for name, shape in root.keys.items()})
        self.root, self.place = root, place

    def __missing__(self, column: str) -> Probe:
        value = Probe(self.root.key(column), self.place)
        self[column] = value
        return value

    def get(self, column: str, default: Any = None) -> Any:
        return self[column]

    def keys(self) -> Any:
        self.root.kinds.add("walked")
        return super().keys()

    def items(self) -> Any:
        self.root.kinds.add("walked")
        return super().items()

    def copy(self) -> ProbeRow:
        row = ProbeRow(self.root, self.place)
        row.update(self)
        return row
