"""hydra-eval against lighteval 0.13: one task file for both, each program in a process and an environment of its own.

    python -m benchmarks.against_lighteval --lighteval-python ENV/bin/python --model DIR --data ../shared/data

from the repository's root. Both read the same TASKS_TABLE file, which the script writes, and encode contexts and
choices apart from each other, as lighteval does. It makes its own of a batch size: with four choices each, 1 to 19 are
one document at a time, 20 to 51 are eight. What is timed and counted is that of benchmarks.against_lm_eval. Exit code
1 where a bound does not hold.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace

from benchmarks.peers.bounds import of_costs, of_counters
from benchmarks.peers.comparing import LIGHTEVAL_LIMIT, compare_with_lighteval, of_answers
from benchmarks.peers.duel import OURS, Duel, Measured, Peer, add_options, common_fields, folder_of
from benchmarks.peers.lighteval_tasks import ROW_SETTINGS, RowSetting, write_rows_task
from benchmarks.peers.order import Order

OUT = "outputs/against_lighteval.json"
AS_LIGHTEVAL = ("model.pair_tokenization=separate",)
LIGHTEVAL_BATCHES = (1, 20)


def order_of(name: str, setting: RowSetting, args: argparse.Namespace) -> Order:
    folder = folder_of(args, name)
    return Order(
        who=OURS,
        task=setting.task,
        file=str(write_rows_task(setting, root=args.data, folder=folder / "task")),
        shots=setting.shots,
        documents=setting.documents,
        folder=str(folder),
        overrides=(*AS_LIGHTEVAL, *args.ours),
        **common_fields(args),
    )


def judge(setting: RowSetting, measured: Measured) -> None:
    """Put the verdicts to what was measured."""
    if measured.ours is None:
        return
    answers = f"sums (within {LIGHTEVAL_LIMIT:g}), argmax, is_greedy and accuracy"
    measured.verdicts = [
        *of_costs(measured.ours, measured.peers, speedup=None),
        *of_answers(measured.agreements, answers=answers),
        *of_counters(measured.ours, setting.task, generates=False),
    ]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lighteval-python", required=True, help="the Python of an environment with lighteval 0.13")
    add_options(parser, settings=ROW_SETTINGS, out=OUT, batches=LIGHTEVAL_BATCHES)
    args = parser.parse_args(argv)
    peer = Peer(
        name="lighteval",
        module="benchmarks.peers.lighteval_run",
        python=args.lighteval_python,
        compare=compare_with_lighteval,
    )
    duel = Duel(peer, args)
    for name in args.settings:
        setting = ROW_SETTINGS[name]
        setting = replace(setting, documents=args.documents or setting.documents)
        measured = duel.measure(name, order_of(name, setting, args))
        judge(setting, measured)
        duel.tell(name, measured)
    return duel.end()


if __name__ == "__main__":
    sys.exit(main())
