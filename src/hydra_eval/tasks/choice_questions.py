"""A choice question taken apart: the text before its options, the options, the text behind them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from hydra_eval.tasks.task import Row

LABEL = re.compile(r"\s*[(\[]?([^\W\d_]|\d{1,2})[)\].:．、：]*\s*")
"""A choice, or what stands before an option, that is a label and nothing else."""
CARRIED = re.compile(r"\s*(?:[(\[]?([^\W\d_]|\d{1,2})[)\]．、：]|([^\W\d_]|\d{1,2})[.:]\s)\s*\S")
"""The beginning of a choice that brings its label along: "(A)red"."""
LABEL_LINE = re.compile(
    r"^[ \t]*(?P<open>[(\[]?)(?P<label>[^\W\d_]|\d{1,2})(?P<close>[)\]．、：]|[.:](?=\s|$))[ \t]*", re.MULTILINE
)
MARK = re.compile(r"[ \t]*(?:[(\[]?(?:[^\W\d_]|\d{1,2})[)\].:．、：]+|[-*•])?[ \t]*")
"""What may stand before an option whose text is known."""
LINE_END, REST = re.compile(r"[ \t]*\n\s*"), re.compile(r"[ \t]*$", re.MULTILINE)
HEADING = re.compile(
    r"(?:^|\n)[ \t#*]*(?:the |answer |possible )*(?:choices|options|alternatives|answers)[ \t*]*[:：]\**\Z",
    re.IGNORECASE,
)
"""A line above the options that says what they are, and nothing of the question."""
STARTS = ("A", "a", "1", "0")
MOST_READINGS = 500


class Unreadable(Exception):
    """The options cannot be told from the text; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """`before`, then marker and option by turns, then `after`: together the text as the task writes it."""

    before: str
    options: tuple[str, ...]
    after: str
    """A cue such as `Answer:`, led by its line end."""
    markers: tuple[str, ...] = ()
    """What the task writes before each option, line end and label included; none where it lists nothing."""

    def listed(self, options: Sequence[str]) -> str:
        """The task's own listing with these options in it."""
        assert self.markers
        pairs = zip(self.markers, options, strict=True)
        return self.before + "".join(marker + option for marker, option in pairs) + self.after

    def labelled(self, options: Sequence[str], labels: Sequence[str], *, cue: str) -> str:
        """With these labels: in the task's own form, or where it lists nothing as lines of ours before the cue."""
        if not self.markers:
            lines = [f" {label}. {option.strip()}" for label, option in zip(labels, options, strict=True)]
            head = [self.before.rstrip()] if self.before.strip() else []
            return "\n".join([*head, *lines]) + (self.after or cue)
        markers = [_relabelled(marker, label) for marker, label in zip(self.markers, labels, strict=True)]
        pairs = zip(markers, options, strict=True)
        return self.before + "".join(marker + option for marker, option in pairs) + self.after

    def bare(self) -> str:
        return self.before + self.after


def _relabelled(marker: str, label: str) -> str:
    head, line_end, line = marker.rpartition("\n")
    old = LABEL.fullmatch(line)
    own = f" {label}. " if old is None else line[: old.start(1)] + label + line[old.end(1) :]
    return head + line_end + own


def label_of(choice: str) -> str | None:
    """`A` for "A", "(A)", " A."; None for what is no label."""
    found = LABEL.fullmatch(choice)
    return None if found is None else found.group(1)


def carries_labels(choices: Sequence[str]) -> bool:
    found = [CARRIED.match(choice) for choice in choices]
    labels = [match.group(1) or match.group(2) for match in found if match is not None]
    return len(labels) == len(choices) and is_series(labels)


def relabelled_choice(choice: str, label: str) -> str:
    found = LABEL.fullmatch(choice)
    assert found is not None
    return choice[: found.start(1)] + label + choice[found.end(1) :]


def is_series(labels: Sequence[str]) -> bool:
    """A, B, C, …, or the like from `a`, `1` or `0`, in any order."""
    numbers = all(label.isascii() and label.isdigit() for label in labels)
    if not numbers and not all(len(label) == 1 for label in labels):
        return False
    places = sorted(int(label) if numbers else ord(label) for label in labels)
    first = str(places[0]) if numbers else chr(places[0])
    return first in STARTS and places == list(range(places[0], places[0] + len(places)))


def unlisted(text: str, options: Sequence[str]) -> Question:
    """Of a text that shows no options; its cue is the last line, where that ends in a colon."""
    body, cue = split_cue(text)
    return Question(before=body, options=tuple(options), after=cue)


def split_cue(text: str) -> tuple[str, str]:
    shown = text.rstrip()
    body = shown.rpartition("\n")[0].rstrip()
    if not body or not shown.endswith((":", "：")):
        return text, ""
    return body, text[len(body) :]


def find_options(text: str, options: Sequence[str]) -> Question | None:
    """Where a text lists these options, one after the other on lines of their own; None where it does not."""
    known = [option.strip() for option in options]
    if not all(option and option in text for option in known):
        return None
    start = len(text)
    while (start := text.rfind(known[0], 0, start + len(known[0]) - 1)) >= 0:
        line = text.rfind("\n", 0, start) + 1
        spans = _spans(text, start, known) if MARK.fullmatch(text, line, start) else None
        if spans is not None and _marks_agree(text, line, spans):
            return _question(text, line, spans)
    return None


def _spans(text: str, start: int, options: Sequence[str]) -> list[tuple[int, int]] | None:
    """Where the options stand, the first from `start` on, each on lines of its own."""
    spans: list[tuple[int, int]] = []
    for option in options:
        if spans:
            gap = LINE_END.match(text, spans[-1][1])
            mark = MARK.match(text, gap.end()) if gap else None
            starts = [] if gap is None or mark is None else [mark.end(), gap.end()]
            start = next((place for place in starts if text.startswith(option, place)), -1)
        if start < 0:
            return None
        spans.append((start, start + len(option)))
    return spans if REST.match(text, spans[-1][1]) else None


def _marks_agree(text: str, line: int, spans: Sequence[tuple[int, int]]) -> bool:
    """What stands before the options are labels in a row, or none of it is a label."""
    ends = [line, *(stop for _, stop in spans)]
    labels = [label_of(text[end:start]) for end, (start, _) in zip(ends[:-1], spans, strict=True)]
    return not any(labels) or (all(labels) and is_series([label or "" for label in labels]))


def read_options(text: str, labels: Sequence[str], row: Row) -> Question:
    """The options that a text lists under these labels, told from what stands around them.

    One reading counts: the only one whose options are all values of the row, or else the one in which the last option
    ends at the cue, if no other is possible. Raises `Unreadable`.
    """
    readings = list(islice(_readings(text, labels), MOST_READINGS))
    if not readings:
        raise Unreadable(f"no lines of it begin with {', '.join(labels)} one after the other")
    values = list(_values(row))
    known = set(values)
    confirmed = [reading for reading in readings if known.issuperset(reading.options)]
    left = [reading for reading in confirmed if _stand_together(reading.options, values)] or confirmed
    return left[0] if len(left) == 1 else _plain(text, left or readings)


def lists_labels(text: str, labels: Sequence[str]) -> bool:
    return next(_readings(text, labels), None) is not None


def _plain(text: str, readings: Sequence[Question]) -> Question:
    """The reading that needs no knowledge of the options."""
    cue = split_cue(text)[1].strip()
    whole = [reading for reading in readings if reading.after.strip() == cue]
    if len(whole) != 1:
        raise Unreadable("more than one line begins with the same label")
    *others, last = whole[0].options
    if "\n" in last and not any("\n" in option for option in others):
        raise Unreadable("several lines follow the last label, and nothing says where its option ends")
    return whole[0]


def _readings(text: str, labels: Sequence[str]) -> Iterator[Question]:
    found = list(LABEL_LINE.finditer(text))
    for form in dict.fromkeys((line["open"], line["close"]) for line in found):
        of_form = [line for line in found if (line["open"], line["close"]) == form]
        for lines in _rising([[line for line in of_form if line["label"] == label] for label in labels]):
            for end in _line_ends(text, lines[-1].end()):
                yield _cut(text, lines, end)


def _rising(places: Sequence[Sequence[re.Match[str]]]) -> Iterator[tuple[re.Match[str], ...]]:
    """One line per label, each below the one before it."""
    latest = [len(places)] * len(places)
    bound: float = float("inf")
    for index in reversed(range(len(places))):
        starts = [line.start() for line in places[index] if line.start() < bound]
        if not starts:
            return
        latest[index] = bound = max(starts)
    yield from _below(places, latest, -1)


def _below(
    places: Sequence[Sequence[re.Match[str]]], latest: Sequence[int], above: int
) -> Iterator[tuple[re.Match[str], ...]]:
    if not places:
        yield ()
        return
    for line in places[0]:
        if above < line.start() <= latest[0]:
            for rest in _below(places[1:], latest[1:], line.start()):
                yield (line, *rest)


def _line_ends(text: str, start: int) -> Iterator[int]:
    """The ends of the lines from here on that are not blank."""
    for line in re.finditer(r"[^\n]*(?:\n|\Z)", text[start:]):
        if line.group().strip() or not line.start():
            yield start + line.start() + len(line.group().rstrip("\n"))


def _cut(text: str, lines: Sequence[re.Match[str]], end: int) -> Question:
    stops = [line.start() for line in lines[1:]] + [end]
    spans = [_stripped(text, line.end(), stop) for line, stop in zip(lines, stops, strict=True)]
    return _question(text, lines[0].start(), spans)


def _stripped(text: str, start: int, stop: int) -> tuple[int, int]:
    piece = text[start:stop]
    lead = len(piece) - len(piece.lstrip()) if piece.strip() else 0
    return start + lead, start + lead + len(piece.strip())


def _question(text: str, start: int, spans: Sequence[tuple[int, int]]) -> Question:
    """`start`: where the first marker begins; spans of the options."""
    before = text[:start].rstrip()
    before = HEADING.sub("", before).rstrip()
    ends = [len(before), *(stop for _, stop in spans)]
    return Question(
        before=before,
        options=tuple(text[begin:stop] for begin, stop in spans),
        after=text[ends[-1] :],
        markers=tuple(text[end:begin] for end, (begin, _) in zip(ends[:-1], spans, strict=True)),
    )


def _values(value: Any) -> Iterator[str]:
    """Every text and number in a row, at any depth, stripped."""
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from _values(inner)
    elif isinstance(value, Collection) and not isinstance(value, str | bytes):
        for inner in value:
            yield from _values(inner)
    else:
        yield str(value).strip()


def _stand_together(options: Sequence[str], values: Sequence[str]) -> bool:
    """One after the other, as in a list or in neighbouring columns."""
    count = len(options)
    return any(tuple(values[place : place + count]) == tuple(options) for place in range(len(values)))
