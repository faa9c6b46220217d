"""Replies to many prompts: the prompts run as trees, then all rows step by step; who is done makes way for the next."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from hydra_eval.models.efficiency import Efficiency
from hydra_eval.models.encoding import Ids
from hydra_eval.models.engine.slots import Slots
from hydra_eval.models.engine.tree import Tree, plan_trees
from hydra_eval.models.engine.trunk import Prefix, Trunk


@dataclass(slots=True, kw_only=True, eq=False)
class Flight:
    """One reply in the making."""

    prompt: Ids
    room: int
    """Most tokens it may have."""
    seed: int | None = None
    """Of its own generator; None: the most likely token each time."""
    reply: list[int] = field(default_factory=list)
    is_done: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Pilot:
    """How the next token is found, and what ends a reply."""

    choose: Callable[[Tensor, Sequence[Flight]], Tensor]
    """`(logits [rows, vocabulary], their flights) -> the next token of each [rows]`."""
    ended: Callable[[Flight], bool]
    rows: int
    """Most flights at once."""
    budget: int
    """Most tokens of prompts in one forward pass."""


def fly(flights: Sequence[Flight], trunk: Trunk, prefix: Prefix, pilot: Pilot, spent: Efficiency) -> None:
    """Complete the reply of every flight. `prefix` is what all prompts begin with, their last tokens aside."""
    waiting = deque(sorted(flights, key=lambda flight: flight.prompt))
    crew = Crew(trunk, pilot, spent)
    while waiting or crew.here:
        crew.board([waiting.popleft() for _ in range(min(len(waiting), crew.vacant))], prefix)
        crew.step()


class Crew:
    """The flights that share forward passes, each in a row of the slots."""

    def __init__(self, trunk: Trunk, pilot: Pilot, spent: Efficiency) -> None:
        self.trunk = trunk
        self.pilot = pilot
        self.slots = Slots(trunk)
        self.spent = spent
        self.here: list[Flight] = []

    @property
    def vacant(self) -> int:
        return self.pilot.rows - sum(not flight.is_done for flight in self.here)

    def board(self, flights: Sequence[Flight], prefix: Prefix) -> None:
        """Run the prompts; those whose first token does not end the reply at once take rows, free ones first."""
        by_prompt: dict[Ids, list[Flight]] = {}
        for flight in flights:
            by_prompt.setdefault(flight.prompt, []).append(flight)
        for planned in plan_trees(by_prompt, start=len(prefix), budget=self.pilot.budget):
            tree, before = self.trunk.past_long_start(planned, prefix, own=1)
            self._board(tree, [flight for prompt in tree.paths for flight in by_prompt[prompt]], before)

    def _board(self, tree: Tree, flights: Sequence[Flight], prefix: Prefix) -> None:
        chosen = torch.zeros(len(tree), dtype=torch.bool)
        last = torch.tensor([int(tree.paths[flight.prompt][-1]) for flight in flights])
        chosen[last] = True
        logits, fresh = self.trunk.logits_and_keys(tree, chosen, prefix)
        self.spent.logit_positions += len(logits)
        self._append(logits[(chosen.cumsum(0) - 1)[last].to(logits.device)], flights)
        staying = [flight for flight in flights if not flight.is_done]
        if not staying:
            return
        over = [row for row, flight in enumerate(self.here) if flight.is_done][: len(staying)]
        self.slots.enter([tree.paths[flight.prompt] for flight in staying], prefix, fresh, over=over)
        for row, flight in zip(over, staying, strict=False):
            self.here[row] = flight
        self.here += staying[len(over) :]

    def step(self) -> None:
        """One more token for every flight; rows that nobody needs go first."""
        rows = [row for row, flight in enumerate(self.here) if not flight.is_done]
        if len(rows) < len(self.here):
            self.here = [self.here[row] for row in rows]
            self.slots.keep(rows)
        if not self.here:
            return
        tokens = self.slots.lengths.new_tensor([flight.reply[-1] for flight in self.here])
        logits = self.slots.step(tokens)
        self.spent.row_steps += len(logits)
        self.spent.logit_positions += len(logits)
        self._append(logits, self.here)

    def _append(self, logits: Tensor, flights: Sequence[Flight]) -> None:
        for flight, token in zip(flights, self.pilot.choose(logits, flights).tolist(), strict=True):
            flight.reply.append(token)
            flight.is_done = len(flight.reply) >= flight.room or self.pilot.ended(flight)
