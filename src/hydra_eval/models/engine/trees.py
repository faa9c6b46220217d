"""Requests as prefix trees: what several of them begin with is run once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from hydra_eval.models.batching import Budget
from hydra_eval.models.efficiency import Efficiency
from hydra_eval.models.encoding import Ids, Span
from hydra_eval.models.engine.choosing import Choose, prepare
from hydra_eval.models.engine.endings import Ended
from hydra_eval.models.engine.likelihood import Reading, score_tree_rows
from hydra_eval.models.engine.replies import Flight, Pilot, fly
from hydra_eval.models.engine.trunk import NO_PREFIX, Trunk
from hydra_eval.models.likelihood import Row, SpanScore
from hydra_eval.models.plain import PlainEngine
from hydra_eval.models.replies import Manner, Wanted

PREFIXES_KEPT = 4


class TreeEngine:
    """Scores and replies through prefix trees. A way to generate that its loop cannot follow goes to `plain`."""

    def __init__(self, trunk: Trunk, plain: PlainEngine, budget: Budget) -> None:
        self.trunk = trunk
        self.plain = plain
        self.budget = budget
        # Always run alone and in full: the same bits, whichever packet comes first.
        self._prefix = lru_cache(maxsize=PREFIXES_KEPT)(trunk.run_prefix)

    def score(self, rows: Sequence[Row], start: Ids, spent: Efficiency) -> dict[Span, SpanScore]:
        alone = [row for row in rows if not self.budget.lets_share(len(row.inputs))]
        rows = [row for row in rows if self.budget.lets_share(len(row.inputs))]
        behind = [row for row in rows if _is_behind(row.inputs, start, own=row.scored)]
        rest = [row for row in rows if not _is_behind(row.inputs, start, own=row.scored)]
        scores = self.plain.score(alone, start, spent)
        for part, prefix in ((behind, start), (rest, ())):
            if part:
                scores |= score_tree_rows(
                    part,
                    self.trunk,
                    self._prefix(prefix) if prefix else NO_PREFIX,
                    reading=Reading(self.budget, self.plain.dtype),
                    spent=spent,
                )
        return scores

    def reply(self, wanted: Sequence[Wanted], manner: Manner, start: Ids, spent: Efficiency) -> list[list[int]]:
        model, options = self.trunk.model, manner.options
        prepared = prepare(model, options, wanted[0].prompt)
        room = manner.generation.max_new_tokens
        if not prepared.is_token_by_token or not self.budget.lets_share(max(len(one.prompt) for one in wanted) + room):
            return self.plain.reply(wanted, manner, start, spent)
        flights = [Flight(prompt=one.prompt, room=room, seed=one.seed) for one in wanted]
        behind = [flight for flight in flights if _is_behind(flight.prompt, start, own=1)]
        rest = [flight for flight in flights if not _is_behind(flight.prompt, start, own=1)]
        choose = Choose(model, options, processed=bool(prepared.processors) or wanted[0].seed is not None)
        for part, prefix in ((behind, start), (rest, ())):
            if part:
                pilot = Pilot(
                    choose=choose, ended=Ended(manner), rows=self._rows(part, prefix), budget=self.budget.tokens
                )
                fly(part, self.trunk, self._prefix(prefix) if prefix else NO_PREFIX, pilot, spent)
        return [flight.reply for flight in flights]

    def forget(self) -> None:
        """Prefixes that are needed again are run again."""
        self._prefix.cache_clear()

    def _rows(self, flights: Sequence[Flight], prefix: Ids) -> int:
        """Most flights at once: what they have in common need not be kept for each of them."""
        common = len(prefix) if self.trunk.attends_together else 0
        return self.budget.flights(max(len(flight.prompt) + flight.room for flight in flights) - common)


def _is_behind(ids: Ids, start: Ids, *, own: int) -> bool:
    """The ids begin with `start`, and their last `own` stand outside it."""
    return bool(start) and len(ids) - own >= len(start) and ids[: len(start)] == start
