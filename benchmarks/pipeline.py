# ruff: noqa: T201
"""Everything but the model: the whole program on made-up multiple choice with the model that answers at once.

    python -m benchmarks.pipeline [--rows 2000 20000]

Prints the seconds of the whole process and of each phase, and what a row costs on the processor at the largest count
against the smallest: 1.0 means that the time per row is flat. The start of the process, the same for any count, is
taken off by a run of one document. The last line is for 10,000 documents of four choices and five examples, always
measured.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

TOLD = 10_000
"""Rows of the figure that the last line gives."""
MOST_SECONDS = 10.0
"""For them, of the whole process."""
REPOSITORY = Path(__file__).resolve().parents[1]
WORDS = ("river", "lamp", "cedar", "violet", "hammer", "quiet", "seven", "north", "bread", "wheel")
TASK = """\
task: made_up
output_type: multiple_choice
dataset_path: json
dataset_kwargs: {data_files: {train: train.jsonl, test: test.jsonl}}
training_split: train
test_split: test
doc_to_text: "Question: {{question}}\\nAnswer:"
doc_to_choice: choices
doc_to_target: label
num_fewshot: 5
"""


def write_task(folder: Path, rows: int) -> None:
    """A task of `rows` documents with four choices each, and 100 rows to draw examples from."""
    folder.mkdir()
    (folder / "made_up.yaml").write_text(TASK, encoding="utf-8")
    generator = random.Random(rows)
    for split, count in (("train", 100), ("test", rows)):
        with (folder / f"{split}.jsonl").open("w", encoding="utf-8") as stream:
            for number in range(count):
                stream.write(json.dumps(_row(generator, number)) + "\n")


def _row(generator: random.Random, number: int) -> dict[str, object]:
    question = " ".join(generator.choices(WORDS, k=30))
    choices = [" ".join(generator.choices(WORDS, k=4)) + f" {place}" for place in range(4)]
    return {"question": f"{number} {question}", "choices": choices, "label": generator.randrange(4)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Of one run, in seconds."""

    whole: float
    """From the start of the process to its end."""
    processor: float
    """The same on the processor: it hardly depends on what else the machine does."""
    phases: dict[str, float]


def measure(rows: int, scratch: Path) -> Cost:
    tasks, run = scratch / f"tasks{rows}", scratch / f"run{rows}"
    write_task(tasks, rows)
    overrides = [f"hydra.searchpath=[tasks://{tasks}]", f"hydra.run.dir={run}", "model=dummy", "tracker=none"]
    start, before = time.perf_counter(), _processor_seconds()
    command = [sys.executable, "run.py", "task=made_up", *overrides]
    subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True)
    whole, processor = time.perf_counter() - start, _processor_seconds() - before
    results = json.loads((run / "results.json").read_text(encoding="utf-8"))
    return Cost(whole=whole, processor=processor, phases=results["hydra_eval"]["seconds"])


def _processor_seconds() -> float:
    """Of all processes that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def table_of(measured: dict[int, Cost]) -> Table:
    table = Table("rows", "whole process, s", "processor, s", "of it ms per row", *measured[1].phases)
    for rows, cost in measured.items():
        each = f"{1000 * (cost.processor - measured[1].processor) / rows:.3f}" if rows > 1 else "(start)"
        seconds = (cost.whole, cost.processor)
        phases = (f"{spent:.2f}" for spent in cost.phases.values())
        table.add_row(f"{rows:,}", *(f"{spent:.2f}" for spent in seconds), each, *phases)
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[2_000, 20_000])
    counts = sorted({1, TOLD, *parser.parse_args().rows})
    with TemporaryDirectory() as scratch:
        measured = {rows: measure(rows, Path(scratch)) for rows in counts}
    Console(width=160).print(table_of(measured))
    start, least, most, told = measured[1], counts[1], counts[-1], measured[TOLD]
    few, many = ((measured[rows].processor - start.processor) / rows for rows in (least, most))
    print(f"A row of {most:,} costs {many / few:.2f} times a row of {least:,}.")
    print(
        f"Everything but the model, {TOLD:,} rows: {told.whole:.2f} s for the whole process ({told.processor:.2f} s on "
        f"the processor), {start.whole:.2f} s of it the start. At most {MOST_SECONDS:.0f} s are meant."
    )


if __name__ == "__main__":
    main()
