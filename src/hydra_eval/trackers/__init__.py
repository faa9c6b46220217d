"""Where a run is told about, besides its folder."""

from __future__ import annotations

from collections.abc import Callable

from hydra_eval.config.schema import TrackerConfig
from hydra_eval.errors import lookup
from hydra_eval.trackers.base import RunFacts, Tracker
from hydra_eval.trackers.guarded import Guarded
from hydra_eval.trackers.none import NoTracker
from hydra_eval.trackers.wandb_tracker import WandbTracker

__all__ = ["TRACKERS", "Guarded", "RunFacts", "Tracker", "build_tracker"]

TRACKERS: dict[str, Callable[[TrackerConfig], Tracker]] = {
    "wandb": WandbTracker,
    "none": NoTracker,
}


def build_tracker(config: TrackerConfig) -> Tracker:
    """The tracker that `tracker.kind` names, guarded. Imports and opens nothing before `start`."""
    return Guarded(lookup(TRACKERS, config.kind, kind="tracker", where="tracker.kind")(config))
