from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from hydra_eval.records import SampleRow
from hydra_eval.trackers.base import RunFacts
from hydra_eval.trackers.guarded import Guarded

from .rows import generation_row

CALLS = ("start", "samples", "results", "files", "close")


class Diary:
    """Notes what it is told, and raises at the calls it is made to fail at."""

    label = "Diary"
    link = "diary://1"
    resync = "diary send"

    def __init__(self, *fails_at: str, error: BaseException | None = None) -> None:
        self.fails_at = fails_at
        self.error = error or OSError("no ink\nsecond line")
        self.told: list[str] = []

    def _note(self, call: str) -> None:
        self.told.append(call)
        if call in self.fails_at:
            raise self.error

    def start(self, run: RunFacts) -> None:
        self._note("start")

    def samples(self, task: str, rows: Sequence[SampleRow]) -> None:
        self._note("samples")

    def results(self, results: Mapping[str, Any]) -> None:
        self._note("results")

    def files(self, paths: Sequence[Path]) -> None:
        self._note("files")

    def close(self, exit_code: int) -> None:
        self._note("close")


def live(tracker: Guarded, folder: Path) -> None:
    tracker.start(RunFacts(folder=folder, config={}, name="run", model="tiny", tasks=["capitals"]))
    tracker.samples("capitals", [generation_row(0)])
    tracker.results({"results": {}})
    tracker.files([folder / "results.json"])
    tracker.close(0)


def test_without_a_failure_every_call_passes_and_nothing_is_said(tmp_path: Path, caplog: Any) -> None:
    diary = Diary()
    live(Guarded(diary), tmp_path)
    assert (tuple(diary.told), caplog.records) == (CALLS, [])


@pytest.mark.parametrize(
    ("fails_at", "told"),
    [
        ("start", ("start",)),
        ("samples", ("start", "samples", "close")),
        ("results", ("start", "samples", "results", "close")),
        ("files", ("start", "samples", "results", "files", "close")),
        ("close", CALLS),
    ],
)
def test_a_failure_is_one_warning_and_only_close_still_passes(
    fails_at: str, told: tuple[str, ...], tmp_path: Path, caplog: Any
) -> None:
    diary = Diary(fails_at)
    live(Guarded(diary), tmp_path)
    assert tuple(diary.told) == told
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert f"Diary failed at {fails_at}" in record.message
    for part in ("(OSError: no ink)", str(tmp_path), "diary send"):
        assert part in record.message


def test_a_second_failure_at_close_is_not_said_again(tmp_path: Path, caplog: Any) -> None:
    diary = Diary("samples", "close")
    live(Guarded(diary), tmp_path)
    assert (diary.told[-1], len(caplog.records)) == ("close", 1)


def test_close_happens_once(tmp_path: Path) -> None:
    diary = Diary()
    tracker = Guarded(diary)
    live(tracker, tmp_path)
    tracker.close(1)
    assert diary.told.count("close") == 1


def test_an_interruption_is_not_held_up(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        live(Guarded(Diary("samples", error=KeyboardInterrupt())), tmp_path)


def test_link_and_label_are_the_trackers() -> None:
    tracker = Guarded(Diary())
    assert (tracker.label, tracker.link, tracker.resync) == ("Diary", "diary://1", "diary send")
