# ruff: noqa: T201
"""Everything but the model: the whole program on made-up multiple choice with the model that answers at once.

    python -m benchmarks.pipeline [--rows 2000 20000]

Prints the seconds of the whole process and of each phase, and what a row costs at the largest count against the
smallest: 1.0 means that the time per row is flat. The start of the process, the same for any count, is taken off by
a run of one document.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

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


def measure(rows: int, scratch: Path) -> tuple[float, dict[str, float]]:
    """(seconds of the whole process, phase → seconds)"""
    tasks, run = scratch / f"tasks{rows}", scratch / f"run{rows}"
    write_task(tasks, rows)
    overrides = [f"hydra.searchpath=[tasks://{tasks}]", f"hydra.run.dir={run}", "model=dummy", "tracker=none"]
    start = time.perf_counter()
    command = [sys.executable, "run.py", "task=made_up", *overrides]
    subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True)
    seconds = time.perf_counter() - start
    return seconds, json.loads((run / "results.json").read_text(encoding="utf-8"))["hydra_eval"]["seconds"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[2_000, 20_000])
    counts = [1, *sorted(parser.parse_args().rows)]
    with TemporaryDirectory() as scratch:
        measured = {rows: measure(rows, Path(scratch)) for rows in counts}
    table = Table("rows", "whole process, s", "ms per row", *measured[1][1])
    start = measured[1][0]
    for rows, (seconds, phases) in measured.items():
        cost = f"{1000 * (seconds - start) / rows:.3f}" if rows > 1 else "(start)"
        table.add_row(str(rows), f"{seconds:.2f}", cost, *(f"{spent:.2f}" for spent in phases.values()))
    Console(width=160).print(table)
    least, most = counts[1], counts[-1]
    ratio = ((measured[most][0] - start) / most) / ((measured[least][0] - start) / least)
    print(f"a row of {most} costs {ratio:.2f} times a row of {least}")


if __name__ == "__main__":
    main()
