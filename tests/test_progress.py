from __future__ import annotations

import io
import logging
from collections.abc import Callable
from dataclasses import replace

import pytest
from rich.console import Console

from hydra_eval.progress import Course, Teller, followed
from hydra_eval.records import Packet
from hydra_eval.screen import Screen

from .models.asking import scoring_packet


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def packet(cost: int, requests: int = 2) -> Packet:
    return replace(scoring_packet([("a", " b")] * requests), cost=cost)


PACKETS = [packet(600), packet(300, requests=20), packet(100)]


def course(moves: list[tuple[int, float]]) -> Course:
    """Of 1000 tokens, from second 100 on; a move is (cost, second)."""
    found = Course(cost=1000, requests=24, started=100.0)
    for cost, second in moves:
        found.move(packet(cost), second)
    return found


@pytest.mark.parametrize(
    ("moves", "now", "left"),
    [
        ([], 150.0, None),
        ([(600, 130.0)], 130.0, 20.0),
        ([(600, 130.0), (200, 150.0)], 150.0, 20.0),
        ([(600, 130.0), (200, 150.0)], 157.0, 13.0),
        ([(600, 130.0), (200, 150.0)], 190.0, 0.0),
        ([(600, 190.0), (200, 192.0), (200, 194.0)], 194.0, 0.0),
        ([(600, 190.0), (200, 192.0)], 192.0, 2.0),
    ],
    ids=["nothing done", "one packet", "two", "between packets", "overdue", "all", "slow start"],
)
def test_the_time_left_goes_by_cost_and_by_the_pace_since_the_first_packet(
    moves: list[tuple[int, float]], now: float, left: float | None
) -> None:
    assert course(moves).seconds_left(now) == (None if left is None else pytest.approx(left))


def test_a_line_says_how_much_is_done_how_fast_and_how_long_it_will_take() -> None:
    told = course([(600, 130.0), (200, 150.0)]).line(61_700, 150.0)
    assert told == "4 of 24, 1,234 tokens/s, 80% of the work in 0:00:50, 0:00:20 left"


def test_the_last_line_says_what_it_took() -> None:
    assert course([]).last_line(123_400, 200.0) == "all 24 in 0:01:40, 1,234 tokens/s"


@pytest.mark.parametrize(
    ("share", "now", "due"),
    [(0.9, 9.0, False), (0.1, 10.0, True), (0.09, 59.0, False), (0.0, 60.0, True)],
    ids=["too soon", "a tenth", "less than a tenth", "a minute"],
)
def test_a_line_is_due_after_a_minute_or_a_tenth_of_the_work(share: float, now: float, due: bool) -> None:
    assert Teller(told=0.0).is_due(share, now) is due


def test_lines_do_not_follow_one_another_at_once() -> None:
    teller = Teller(told=0.0)
    assert [teller.is_due(second / 64, float(second)) for second in range(41)].count(True) == 4


def walk(advance: Callable[[Packet], None]) -> None:
    for one in PACKETS:
        advance(one)


def test_a_terminal_has_a_bar_that_moves_by_cost() -> None:
    stream = Terminal()
    console = Console(file=stream, width=200, force_terminal=True)
    with followed(PACKETS, console, label="requests", first="the first pass", tokens=lambda: 5) as advance:
        advance(PACKETS[0])
        moved = stream.getvalue()
        walk(advance)
    assert "requests" in moved and "the first pass" in moved and "-:--:-- left" in moved
    assert "tokens/s" in stream.getvalue() and "0:00:00 left" in stream.getvalue()


@pytest.mark.parametrize(
    ("options", "start"),
    [
        ({}, "requests: the first pass is on."),
        ({"is_share": True}, "requests of the main process: the first pass is on."),
        ({"compiles": True}, "requests: the first pass, with compilation, is on."),
    ],
    ids=["alone", "one of several", "compiled"],
)
def test_elsewhere_there_are_lines(
    options: dict[str, bool], start: str, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO), Screen(shown=True).progress(PACKETS, **options) as advance:
        walk(advance)
    first, last = (record.getMessage() for record in caplog.records)
    assert first == start
    assert last.startswith(f"{start.partition(':')[0]}: all 24 in 0:00:00, ")
    assert capsys.readouterr().err == ""


def test_on_a_terminal_the_lines_are_for_the_log_alone(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("sys.stderr", Terminal())
    with caplog.at_level(logging.DEBUG), Screen(shown=True).progress(PACKETS) as advance:
        walk(advance)
    assert {record.levelname for record in caplog.records} == {"DEBUG"}


@pytest.mark.parametrize("shown", [True, False], ids=["no requests", "another rank"])
def test_silent(shown: bool, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), Screen(shown=shown).progress([] if shown else PACKETS) as advance:
        walk(advance)
    assert (capsys.readouterr().err, caplog.text) == ("", "")


def test_what_fails_is_not_told_as_done(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO), pytest.raises(RuntimeError), Screen(shown=True).progress(PACKETS):
        raise RuntimeError
    assert [record.getMessage() for record in caplog.records] == ["requests: the first pass is on."]
