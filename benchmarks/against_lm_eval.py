"""hydra-eval against lm-evaluation-harness: the same rows, prompts and weights, each program in a process of its own.

    python -m benchmarks.against_lm_eval --model DIR --data ../shared/data [--settings NAME …] [--out FILE]

from the repository's root, with the extra `parity` installed. Timed is the request phase (prompts to responses,
tokenisation included) after a warm-up; load and whole process stand beside it. Every batch size of lm-eval gets a
process; one that runs out of memory counts as none. Positions, row-steps and rows of logits are counted by hooks.
Exit code 1 where a bound does not hold.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace

from benchmarks.peers.bounds import of_costs, of_counters
from benchmarks.peers.comparing import compare_with_lm_eval, of_answers
from benchmarks.peers.duel import OURS, Duel, Measured, Peer, add_options, common_fields, counted_alone, folder_of
from benchmarks.peers.order import Order
from benchmarks.peers.settings import SETTINGS, Setting, write_task

LM_EVAL = Peer(name="lm-eval", module="benchmarks.peers.lm_eval_run", compare=compare_with_lm_eval)
OUT = "outputs/against_lm_eval.json"
BATCHES = (1, 2, 4, 8)


def order_of(name: str, setting: Setting, args: argparse.Namespace) -> Order:
    folder = folder_of(args, name)
    return Order(
        who=OURS,
        task=setting.task,
        file=str(write_task(setting, root=args.data, folder=folder / "task")),
        shots=setting.shots,
        documents=setting.documents,
        folder=str(folder),
        overrides=tuple(args.ours),
        **common_fields(args),
    )


def judge(setting: Setting, measured: Measured) -> None:
    """Put the verdicts to what was measured."""
    ours, peers = measured.ours, measured.peers
    if ours is None:
        return
    answers = "texts and scores" if setting.generates else "sums (within 0.001), argmax, is_greedy and scores"
    measured.verdicts = [
        *of_costs(ours, peers, speedup=setting.speedup),
        *of_answers(measured.agreements, answers=answers),
        *of_counters(ours, setting.task, generates=setting.generates, alone=counted_alone(peers)),
    ]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser, settings=SETTINGS, out=OUT, batches=BATCHES)
    args = parser.parse_args(argv)
    duel = Duel(LM_EVAL, args)
    for name in args.settings:
        setting = SETTINGS[name]
        setting = replace(setting, documents=args.documents or setting.documents)
        measured = duel.measure(name, order_of(name, setting, args))
        judge(setting, measured)
        duel.tell(name, measured)
    return duel.end()


if __name__ == "__main__":
    sys.exit(main())
