"""What must hold between hydra-eval's figures and a peer's, and whether it does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.peers.order import RUN, Figures
from benchmarks.peers.processes import Outcome
from tests.parity.diff import read_results, read_samples

STEPS_PER_TOKEN = 1.02
GIB = 2**30


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One bound, and what was found."""

    bound: str
    holds: bool
    said: str


def best_of(peers: Sequence[Outcome]) -> Outcome | None:
    """The fastest of those that came to an end."""
    done = [peer for peer in peers if peer.figures]
    return min(done, key=lambda peer: figures_of(peer).request_s, default=None)


def figures_of(outcome: Outcome) -> Figures:
    assert outcome.figures is not None
    return outcome.figures


def of_costs(ours: Outcome, peers: Sequence[Outcome], *, speedup: float | None) -> Iterator[Verdict]:
    """Bounds on time and memory; none of a peer that was not asked to run.

    `speedup`: so many times as fast as the peer at the least; None: just faster.
    """
    best = best_of(peers)
    if ours.figures is None:
        yield Verdict(bound="hydra-eval runs", holds=False, said=ours.failure.splitlines()[-1])
    elif best is None:
        yield from (Verdict(bound="the peer runs", holds=False, said="at no batch size") for _ in peers[:1])
    else:
        yield speed(speedup, ours.figures, best)
        yield memory(ours.figures, peers, best)
        threads = {outcome.figures.threads for outcome in (ours, *peers) if outcome.figures}
        yield Verdict(bound="the same number of threads", holds=len(threads) == 1, said=f"{sorted(threads)}")


def speed(speedup: float | None, ours: Figures, best: Outcome) -> Verdict:
    theirs = figures_of(best)
    ratio = theirs.request_s / ours.request_s
    return Verdict(
        bound="faster" if speedup is None else f"at least {speedup:g} times as fast",
        holds=ratio >= (speedup or 1),
        said=f"{ratio:.2f} times ({best.order.name}: {theirs.request_s:.2f} s; ours: {ours.request_s:.2f} s); "
        f"by processor time {theirs.cpu_s / ours.cpu_s:.2f} times",
    )


def memory(ours: Figures, peers: Sequence[Outcome], best: Outcome) -> Verdict:
    theirs = figures_of(best).request_peak
    least = min(peer.figures.request_peak for peer in peers if peer.figures)
    return Verdict(
        bound="peak memory of the request phase below the peer's",
        holds=ours.request_peak < theirs,
        said=f"{ours.request_peak / GIB:.2f} GiB; {best.order.name}: {theirs / GIB:.2f} GiB "
        f"(at the batch size that takes least: {least / GIB:.2f} GiB)",
    )


def of_counters(ours: Outcome, task: str, *, generates: bool, alone: int | None = None) -> Iterator[Verdict]:
    """What the hooks saw against what the run says of itself; needs no peer.

    `alone`: tokens of all replies as the peer made them one by one, where that is known.
    """
    if ours.figures is None:
        return
    seen = {"forward_tokens": ours.figures.positions, "logit_positions": ours.figures.logit_rows}
    if generates:  # a likelihood of one position is no step of a reply
        seen["row_steps"] = ours.figures.row_steps
    total = read_results(ours.folder / RUN)["hydra_eval"]["efficiency"]["total"]
    said = ", ".join(f"{name} {count} / {total[name]}" for name, count in seen.items())
    equal = all(total[name] == count for name, count in seen.items())
    yield Verdict(bound="counters of the hooks equal those in results.json", holds=equal, said=said)
    if generates:
        yield steps(ours.figures.row_steps, read_samples(ours.folder / RUN, task), alone)


def steps(row_steps: int, rows: Sequence[Mapping[str, Any]], alone: int | None) -> Verdict:
    """Whether all but a few of the rows of all steps brought a token of some reply."""
    tokens = sum({row["doc_id"]: sum(row["output_tokens"]) for row in rows}.values())
    least = tokens if alone is None else min(tokens, alone)
    return Verdict(
        bound=f"row-steps at most {STEPS_PER_TOKEN:g} times the tokens of all replies",
        holds=row_steps <= STEPS_PER_TOKEN * least,
        said=f"{row_steps} row-steps, {tokens} tokens"
        + ("" if alone is None else f" (one by one, the peer made {alone})")
        + f": {row_steps / least:.3f}",
    )
