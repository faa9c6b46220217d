"""What ends a reply that grows token by token."""

from __future__ import annotations

from hydra_eval.models.engine.replies import Flight
from hydra_eval.models.replies import Manner, reach_of
from hydra_eval.models.thinking import answer_so_far


class Ended:
    """One of the end-of-sequence ids, or a stop string where it counts. To be asked after each token of a flight."""

    def __init__(self, manner: Manner) -> None:
        self.manner = manner
        self._eos_ids = frozenset(manner.eos_ids)
        self._reach = reach_of([manner.marker] if isinstance(manner.marker, str) else [])
        self._answering: set[Flight] = set()
        """Those whose reasoning is over: looked for among the last tokens alone, because reasoning is long."""

    def __call__(self, flight: Flight) -> bool:
        if flight.reply[-1] in self._eos_ids:
            return True
        return self._answers(flight) and self.manner.has_stop_at_end(flight.reply)

    def _answers(self, flight: Flight) -> bool:
        marker = self.manner.marker
        if marker is None or flight in self._answering:
            return True
        if answer_so_far(flight.reply[-self._reach :], marker, self.manner.decode) is None:
            return False
        self._answering.add(flight)
        return True
