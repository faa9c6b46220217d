"""What the scripts against each peer share: options, one process after the other, tables, and the file."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.peers.bounds import Verdict
from benchmarks.peers.comparing import Agreement, compared_with
from benchmarks.peers.order import Order
from benchmarks.peers.processes import OUT, Outcome, run, spare_memory
from benchmarks.peers.record import as_record, describe, earlier_settings, outcomes_of, write_record
from benchmarks.peers.tables import console, figures_table, verdict_lines

OURS = "hydra-eval"
screen = console()


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """Another program, and how it is started and compared."""

    name: str
    module: str
    python: str = sys.executable
    compare: Callable[[Outcome, Outcome], Agreement]


@dataclass(slots=True, kw_only=True)
class Measured:
    """All that is known of one setting."""

    ours: Outcome | None = None
    peers: list[Outcome] = field(default_factory=list)
    agreements: dict[int, Agreement] = field(default_factory=dict)
    verdicts: list[Verdict] = field(default_factory=list)


def add_options(parser: argparse.ArgumentParser, *, settings: Iterable[str], out: str, batches: Sequence[int]) -> None:
    names = list(settings)
    parser.add_argument("--model", type=Path, required=True, help="local folder with weights and tokenizer")
    parser.add_argument("--data", type=Path, required=True, help="local data sets: ORG/NAME/SUBSET/SPLIT.jsonl")
    parser.add_argument("--settings", nargs="+", choices=names, default=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("--batches", nargs="+", type=int, default=batches, help=f"the peer's (default: {batches})")
    parser.add_argument("--documents", type=int, help="for a quick look: other than the setting's own number")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="of every program (default: all cores)")
    parser.add_argument("--memory-gib", type=float, help="most that a process may take (default: 0.9 of what is free)")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--out", type=Path, default=Path(out), help=f"(default: {out}); logs beside it")
    parser.add_argument("--only", choices=["ours", "peer"], help="start only one of the two programs")
    parser.add_argument("--reuse", type=Path, help="take the peer's figures from the file of an earlier run")
    parser.add_argument("--ours", nargs="*", default=[], help="overrides of hydra-eval: model.batch_tokens=4096 …")


def common_fields(args: argparse.Namespace) -> dict[str, Any]:
    """Of every order."""
    return {"model": str(args.model.resolve()), "dtype": args.dtype, "device": args.device, "threads": args.threads}


def folder_of(args: argparse.Namespace, name: str) -> Path:
    """For the processes of a setting, beside the file."""
    folder: Path = args.out.resolve().with_suffix("") / name
    return folder


class Duel:
    """One run of a script."""

    def __init__(self, peer: Peer, args: argparse.Namespace) -> None:
        self.peer = peer
        self.args = args
        self.facts = describe(args)
        self.settings = earlier_settings(args.out, self.facts, is_wanted=False)
        self.earlier = earlier_settings(args.reuse, self.facts, is_wanted=True)
        self.found: list[Verdict] = []

    def measure(self, name: str, order: Order) -> Measured:
        """Run the order with our program and, at every batch size, with the peer's. Ours first: it says soonest
        whether anything is wrong."""
        known = {outcome.order.batch: outcome for outcome in outcomes_of(self.earlier.get(name, {}))}
        measured = Measured()
        if self.args.only != "peer":
            folder = str(folder_of(self.args, name) / "hydra_eval")
            measured.ours = self._run(replace(order, folder=folder), "benchmarks.peers.ours_run", sys.executable)
        for batch in sorted({*self.args.batches, *known} if self.args.only != "ours" else known):
            measured.peers.append(known.get(batch) or self._run_peer(name, order, batch))
        measured.agreements = compared_with(measured.peers, measured.ours, self.peer.compare)
        return measured

    def _run_peer(self, name: str, order: Order, batch: int) -> Outcome:
        folder = folder_of(self.args, name) / f"{self.peer.name.replace('-', '_')}_{batch}"
        order = replace(order, who=self.peer.name, batch=batch, folder=str(folder), overrides=())
        return self._run(order, self.peer.module, self.peer.python)

    def _run(self, order: Order, module: str, python: str) -> Outcome:
        """With a line on screen before and after, and a failing process's last lines."""
        asked = self.args.memory_gib
        memory = spare_memory() if asked is None else int(asked * 2**30)
        screen.print(f"{order.task}, {order.shots} shots, {order.documents} documents: {order.name} …")
        outcome = run(replace(order, memory=memory), module, python)
        if outcome.figures:
            screen.print(f"  {outcome.figures.request_s:.2f} s of {outcome.seconds:.1f} s")
        elif outcome.failure == OUT:
            screen.print(f"  {OUT} after {outcome.seconds:.1f} s: counts as none")
        else:
            screen.print(f"{outcome.failure}\n  (all of it: {outcome.folder / 'log.txt'})", markup=False)
        return outcome

    def tell(self, name: str, measured: Measured) -> None:
        """On screen and in the file."""
        screen.print(figures_table(name, measured.ours, measured.peers))
        for line in verdict_lines(measured.verdicts):
            screen.print(line, markup=False)
        for batch, agreement in measured.agreements.items():
            for difference in agreement.first:
                screen.print(f"    batch size {batch}, {self.peer.name} | ours: {difference}", markup=False)
        screen.print()
        self.found += measured.verdicts
        self.settings[name] = as_record(measured.ours, measured.peers, measured.agreements, measured.verdicts)
        write_record(self.args.out, {"run": self.facts, "settings": self.settings})

    def end(self) -> int:
        """The exit code: 0 where all bounds hold."""
        screen.print(f"{sum(one.holds for one in self.found)} of {len(self.found)} bounds hold. {self.args.out}")
        return 0 if all(one.holds for one in self.found) else 1


def counted_alone(peers: Sequence[Outcome]) -> int | None:
    """Tokens of all replies as the peer made them at batch size 1: of each, one comes from the pass over the prompt."""
    alone = next((peer for peer in peers if peer.order.batch == 1 and peer.figures), None)
    if alone is None or alone.figures is None:
        return None
    return alone.figures.row_steps + alone.order.documents
