from __future__ import annotations

from pathlib import Path

import pytest

from hydra_eval.config.schema import TrackerConfig
from hydra_eval.errors import UserError
from hydra_eval.trackers import TRACKERS, RunFacts, build_tracker

from .rows import generation_row


@pytest.mark.parametrize("kind", TRACKERS)
def test_kinds_are_built_unopened(kind: str) -> None:
    assert build_tracker(TrackerConfig(kind=kind)).link is None


def test_an_unknown_kind_names_the_nearest() -> None:
    with pytest.raises(UserError, match=r"unknown tracker 'wandbb'\. Did you mean 'wandb'\?"):
        build_tracker(TrackerConfig(kind="wandbb"))


def test_none_leaves_no_trace(tmp_path: Path) -> None:
    tracker = build_tracker(TrackerConfig(kind="none"))
    tracker.start(RunFacts(folder=tmp_path, config={}, name="run", model="tiny", tasks=["capitals"]))
    tracker.samples("capitals", [generation_row(0)])
    tracker.results({"results": {}})
    tracker.files([])
    tracker.close(0)
    assert (list(tmp_path.iterdir()), tracker.link) == ([], None)
