"""How far the requests have come, by what they cost: a bar on a terminal, a line now and then elsewhere.

The lines are in the run's log in both cases.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeElapsedColumn
from rich.text import Text

from hydra_eval.records import Packet

log = logging.getLogger(__name__)

SECONDS = 60.0
"""After which another line is due."""
SHARE = 0.1
"""Of the work, after which another line is due sooner, though not within SOON seconds."""
SOON = 10.0


@dataclass(kw_only=True)
class Course:
    """What is done of the work. `now` is in seconds, on any clock that does not go back."""

    cost: int
    """Of all packets, estimated."""
    requests: int
    started: float
    done: int = 0
    """Cost of what is answered."""
    answered: int = 0
    _moved: float = 0.0
    _first: tuple[float, int] = field(default=(0.0, 0))
    """When the first packet had been answered, and its cost: it may have taken long, for reasons of its own."""

    def move(self, packet: Packet, now: float) -> None:
        if not self.answered:
            self._first = (now, packet.cost)
        self.done += packet.cost
        self.answered += len(packet.instances)
        self._moved = now

    @property
    def share(self) -> float:
        return self.done / self.cost

    def seconds_left(self, now: float) -> float | None:
        """At the pace since the first packet; None while that is under way."""
        if not self.done:
            return None
        since, before = self._first if self.done > self._first[1] else (self.started, 0)
        pace = (self._moved - since) / (self.done - before)
        return max(0.0, pace * (self.cost - self.done) - (now - self._moved))

    def facts(self, tokens: int, now: float) -> str:
        """`tokens` went through the model so far."""
        return f"{self.answered:,} of {self.requests:,}, {_rate(tokens, now - self.started)}"

    def line(self, tokens: int, now: float) -> str:
        spent, left = _clock(now - self.started), _clock(self.seconds_left(now))
        return f"{self.facts(tokens, now)}, {self.share:.0%} of the work in {spent}, {left} left"

    def last_line(self, tokens: int, now: float) -> str:
        spent = now - self.started
        return f"all {self.requests:,} in {_clock(spent)}, {_rate(tokens, spent)}"


@dataclass(kw_only=True)
class Teller:
    """When a line is due."""

    told: float
    share: float = 0.0

    def is_due(self, share: float, now: float) -> bool:
        waited = now - self.told
        due = waited >= SECONDS or (waited >= SOON and share - self.share >= SHARE)
        if due:
            self.told, self.share = now, share
        return due


class LeftColumn(ProgressColumn):
    """Counts down between packets."""

    def __init__(self, course: Course) -> None:
        super().__init__()
        self._course = course

    def render(self, task: Task) -> Text:
        return Text(f"{_clock(self._course.seconds_left(time.monotonic()))} left")


@contextmanager
def followed(
    packets: Sequence[Packet], console: Console, *, label: str, first: str, tokens: Callable[[], int]
) -> Iterator[Callable[[Packet], None]]:
    """What is to be called with each packet when it has been answered.

    `label` names the work, `first` says what goes on before the first packet's end; `tokens` gives those that the model
    has run so far.
    """
    now = time.monotonic
    cost, requests = sum(packet.cost for packet in packets), sum(len(packet.instances) for packet in packets)
    course, teller = Course(cost=cost, requests=requests, started=now()), Teller(told=now())
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[facts]}"))
    level = logging.DEBUG if console.is_interactive else logging.INFO
    log.log(level, "%s: %s is on.", label, first)
    with Progress(
        *columns, TimeElapsedColumn(), LeftColumn(course), console=console, disable=not console.is_interactive
    ) as bar:
        bar_id = bar.add_task(label, total=cost, facts=first)

        def advance(packet: Packet) -> None:
            course.move(packet, now())
            bar.update(bar_id, completed=course.done, facts=course.facts(tokens(), now()))
            if teller.is_due(course.share, now()):
                log.log(level, "%s: %s.", label, course.line(tokens(), now()))

        yield advance
    log.log(level, "%s: %s.", label, course.last_line(tokens(), now()))


def _rate(tokens: int, seconds: float) -> str:
    return f"{tokens / seconds if seconds else 0:,.0f} tokens/s"


def _clock(seconds: float | None) -> str:
    return "-:--:--" if seconds is None else str(timedelta(seconds=round(seconds)))
